#include "rigidplastic/fracture/piece_surfaces.h"

#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/mesh/embedding.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/topology.h"

namespace exemplar::rigid {

namespace {

using Place = std::array<long long, 3>;

// Collects the points of one piece; input vertices and nodes at the same place are one point.
class PieceBuilder {
 public:
  PieceBuilder(PieceSurfaces& all, double tolerance) : m_all(all), m_tolerance(tolerance) {
    m_piece.begin = static_cast<int>(m_all.sources.size());
  }

  void add(const Points& from, const Eigen::RowVector3i& corners, bool is_input, std::vector<Vec3>& points) {
    for (int k = 0; k < 3; ++k)
      m_corners.push_back(point(from.row(corners[k]), corners[k], is_input, points));
    if (is_input) ++m_piece.outer;
  }

  PieceSurface finish(std::size_t point_count) {
    m_piece.end = static_cast<int>(point_count);
    m_piece.triangles =
        Eigen::Map<const Triangles>(m_corners.data(), static_cast<Eigen::Index>(m_corners.size() / 3), 3);
    return m_piece;
  }

 private:
  int point(const Vec3& place, int source, bool is_input, std::vector<Vec3>& points) {
    const Place key{std::llround(place.x() / m_tolerance), std::llround(place.y() / m_tolerance),
                    std::llround(place.z() / m_tolerance)};
    const auto [known, fresh] = m_known.try_emplace(key, static_cast<int>(points.size()));
    if (fresh) {
      points.push_back(place);
      m_all.sources.push_back(is_input ? PointSource{source, -1} : PointSource{-1, source});
    }
    return known->second - m_piece.begin;
  }

  PieceSurfaces& m_all;
  double m_tolerance;
  PieceSurface m_piece;
  std::map<Place, int> m_known;
  std::vector<int> m_corners;
};

std::vector<int> pieces_of_triangles(const Body& body, const Pieces& pieces) {
  const TriMesh& surface = body.surface();
  Points centres(surface.triangles.rows(), 3);
  for (Eigen::Index t = 0; t < centres.rows(); ++t) {
    centres.row(t) =
        (surface.vertices.row(surface.triangles(t, 0)) + surface.vertices.row(surface.triangles(t, 1)) +
         surface.vertices.row(surface.triangles(t, 2))) /
        3;
  }
  const Embedding embedding = embed(centres, body.volume().mesh);
  std::vector<int> owners;
  for (Eigen::Index t = 0; t < centres.rows(); ++t)
    owners.push_back(pieces.of_tet[static_cast<std::size_t>(embedding.tet[t])]);
  return owners;
}

Edges piece_edges(const PieceSurfaces& all) {
  std::vector<int> ends;
  for (const PieceSurface& piece : all.pieces) {
    const Edges edges = unique_edges(piece.triangles);
    for (Eigen::Index e = 0; e < edges.rows(); ++e)
      ends.insert(ends.end(), {piece.begin + edges(e, 0), piece.begin + edges(e, 1)});
  }
  return Eigen::Map<const Edges>(ends.data(), static_cast<Eigen::Index>(ends.size() / 2), 2);
}

void add_seams(PieceSurfaces& all, double tolerance) {
  std::map<Place, std::vector<std::pair<int, int>>> at;  // (point, piece)
  for (std::size_t p = 0; p < all.pieces.size(); ++p) {
    for (int i = all.pieces[p].begin; i < all.pieces[p].end; ++i) {
      const Vec3 x = all.points.row(i);
      at[{std::llround(x.x() / tolerance), std::llround(x.y() / tolerance), std::llround(x.z() / tolerance)}]
          .emplace_back(i, static_cast<int>(p));
    }
  }
  std::vector<int> ends;
  for (const auto& [place, copies] : at) {
    for (std::size_t k = 1; k < copies.size(); ++k) {
      ends.insert(ends.end(), {copies[k - 1].first, copies[k].first});
      all.seam_pieces.emplace_back(copies[k - 1].second, copies[k].second);
    }
  }
  all.seams = Eigen::Map<const Edges>(ends.data(), static_cast<Eigen::Index>(ends.size() / 2), 2);
}

void set_volumes(const Body& body, const Pieces& pieces, PieceSurfaces& all) {
  const Volume& volume = body.volume();
  const VecX volumes = tet_volumes(volume.mesh.vertices, volume.mesh.tets);
  for (Eigen::Index t = 0; t < volumes.size(); ++t) {
    all.pieces[static_cast<std::size_t>(pieces.of_tet[static_cast<std::size_t>(t)])].volume +=
        volumes[t] * volume.fill[t];
  }
}

}  // namespace

PieceSurfaces whole_surface(const Body& body) {
  PieceSurfaces all;
  const TriMesh& surface = body.surface();
  const int count = static_cast<int>(surface.vertices.rows());
  all.points = surface.vertices;
  all.pieces.push_back({0, count, surface.triangles, static_cast<int>(surface.triangles.rows()), 0});
  all.carrier.resize(static_cast<std::size_t>(count));
  std::iota(all.carrier.begin(), all.carrier.end(), 0);
  for (int v = 0; v < count; ++v) all.sources.push_back({v, -1});
  all.edges = unique_edges(surface.triangles);
  all.seams.resize(0, 2);
  return all;
}

PieceSurfaces cut_surfaces(const Body& body, const Pieces& pieces, const std::vector<Cut>& cuts) {
  PieceSurfaces all;
  const TriMesh& surface = body.surface();
  const TetMesh& mesh = body.volume().mesh;
  const double diagonal =
      (surface.vertices.colwise().maxCoeff() - surface.vertices.colwise().minCoeff()).norm();
  const double tolerance = 1e-7 * diagonal;
  const std::vector<int> owners = pieces_of_triangles(body, pieces);
  std::vector<Vec3> points;
  for (int p = 0; p < pieces.count; ++p) {
    PieceBuilder builder(all, tolerance);
    for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
      if (owners[static_cast<std::size_t>(t)] != p) continue;
      builder.add(surface.vertices, surface.triangles.row(t), true, points);
      all.input_triangle.push_back(static_cast<int>(t));
    }
    for (const Cut& cut : cuts) {
      if (cut.a != p && cut.b != p) continue;
      for (Eigen::Index f = 0; f < cut.faces.rows(); ++f) {
        Eigen::RowVector3i corners = cut.faces.row(f);
        if (cut.b == p) std::swap(corners[1], corners[2]);
        builder.add(mesh.vertices, corners, false, points);
      }
    }
    all.pieces.push_back(builder.finish(points.size()));
  }
  all.points.resize(static_cast<Eigen::Index>(points.size()), 3);
  for (std::size_t i = 0; i < points.size(); ++i)
    all.points.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  all.carrier.assign(static_cast<std::size_t>(surface.vertices.rows()), 0);
  for (std::size_t i = 0; i < all.sources.size(); ++i) {
    if (all.sources[i].vertex >= 0)
      all.carrier[static_cast<std::size_t>(all.sources[i].vertex)] = static_cast<int>(i);
  }
  all.edges = piece_edges(all);
  add_seams(all, tolerance);
  set_volumes(body, pieces, all);
  return all;
}

}  // namespace exemplar::rigid
