#include "core/mesh/volume/tetgen_process.h"

#include <fmt/format.h>

#define TETLIBRARY  // the library as Debian builds it: failures are exceptions
#include <tetgen.h>

#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/child_process.h"
#include "core/mesh/repair.h"

namespace exemplar {

namespace {

struct Header {
  std::int64_t points;
  std::int64_t tets;
};

void fill_input(const TriMesh& surface, const std::vector<Vec3>& holes, double scale, tetgenio& input) {
  input.firstnumber = 0;
  input.numberofpoints = static_cast<int>(surface.vertices.rows());
  input.pointlist = new double[static_cast<std::size_t>(surface.vertices.size())];
  for (Eigen::Index i = 0; i < surface.vertices.size(); ++i)
    input.pointlist[i] = scale * surface.vertices.data()[i];
  input.numberoffacets = static_cast<int>(surface.triangles.rows());
  input.facetlist = new tetgenio::facet[static_cast<std::size_t>(surface.triangles.rows())];
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    tetgenio::facet& facet = input.facetlist[t];
    tetgenio::init(&facet);
    facet.numberofpolygons = 1;
    facet.polygonlist = new tetgenio::polygon[1];
    tetgenio::polygon& polygon = facet.polygonlist[0];
    tetgenio::init(&polygon);
    polygon.numberofvertices = 3;
    polygon.vertexlist =
        new int[3]{surface.triangles(t, 0), surface.triangles(t, 1), surface.triangles(t, 2)};
  }
  if (holes.empty()) return;
  input.numberofholes = static_cast<int>(holes.size());
  input.holelist = new double[3 * holes.size()];
  for (std::size_t h = 0; h < holes.size(); ++h) {
    for (int k = 0; k < 3; ++k) input.holelist[3 * h + k] = scale * holes[h][k];
  }
}

std::string switch_text(const TetgenSwitches& switches, double scale) {
  std::string text = "pQ";
  if (switches.quality > 0) text += fmt::format("q{:.4f}/{:.4f}", switches.quality, switches.min_dihedral);
  if (switches.max_tet_volume > 0)
    text += fmt::format("a{:.12e}", switches.max_tet_volume * std::pow(scale, 3));
  if (switches.keep_surface) text += "Y";
  return text;
}

bool tetrahedralize_and_send(const TriMesh& surface, const std::vector<Vec3>& holes, std::string switches,
                             double scale, const ChildOutput& output) {
  tetgenio input;
  tetgenio result;
  fill_input(surface, holes, scale, input);
  tetrahedralize(switches.data(), &input, &result);
  if (result.numberoftetrahedra <= 0 || result.numberofcorners != 4) return false;
  const Header header{result.numberofpoints, result.numberoftetrahedra};
  return output.send(&header, sizeof header) &&
         output.send(result.pointlist, static_cast<std::size_t>(header.points) * 3 * sizeof(double)) &&
         output.send(result.tetrahedronlist, static_cast<std::size_t>(header.tets) * 4 * sizeof(int));
}

TetMesh unpack(const std::string& bytes, double scale) {
  TetMesh mesh;
  Header header{};
  assert(bytes.size() >= sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  mesh.vertices.resize(header.points, 3);
  mesh.tets.resize(header.tets, 4);
  const std::size_t point_bytes = static_cast<std::size_t>(mesh.vertices.size()) * sizeof(double);
  const std::size_t tet_bytes = static_cast<std::size_t>(mesh.tets.size()) * sizeof(int);
  assert(bytes.size() == sizeof header + point_bytes + tet_bytes);
  std::memcpy(mesh.vertices.data(), bytes.data() + sizeof header, point_bytes);
  std::memcpy(mesh.tets.data(), bytes.data() + sizeof header + point_bytes, tet_bytes);
  mesh.vertices /= scale;
  orient_tets(mesh);
  return mesh;
}

// A power of two brings every size near one and loses no digit on the way back.
double unit_scale(const Points& points) {
  return std::exp2(
      -std::floor(std::log2((points.colwise().maxCoeff() - points.colwise().minCoeff()).norm())));
}

TetgenRun run_switches(const TriMesh& surface, const std::vector<Vec3>& holes, const std::string& switches,
                       double scale, double time_limit) {
  constexpr std::size_t memory = std::size_t{8} << 30;
  const ChildResult child = run_in_child(
      [&](const ChildOutput& output) {
        return tetrahedralize_and_send(surface, holes, switches, scale, output);
      },
      time_limit, memory);
  TetgenRun run;
  if (child.ok) {
    run.mesh = unpack(child.bytes, scale);
  } else if (child.late) {
    run.is_late = true;
    run.failure = fmt::format(
        "TetGen did not finish within {:g} s: at another time or on another machine the mesh may differ (set "
        "volume.time_limit)",
        time_limit);
  } else if (child.signal != 0) {
    run.failure = fmt::format("TetGen crashed (signal {})", child.signal);
  } else {
    run.failure = "TetGen gave up on the surface";
  }
  return run;
}

}  // namespace

TetgenRun run_tetgen(const TriMesh& surface, const std::vector<Vec3>& holes, const TetgenSwitches& switches,
                     double time_limit) {
  const double scale = unit_scale(surface.vertices);
  return run_switches(surface, holes, switch_text(switches, scale), scale, time_limit);
}

TetgenRun run_delaunay(const Points& points, double time_limit) {
  return run_switches({points, Triangles(0, 3)}, {}, "Q", unit_scale(points), time_limit);
}

}  // namespace exemplar
