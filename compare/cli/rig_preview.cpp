#include "compare/cli/rig_preview.h"

#include <fmt/format.h>

#include "core/base/errors.h"
#include "core/mesh/models/primitives.h"
#include "core/output/atomic_file.h"
#include "core/output/geometry_file.h"
#include "core/output/pvd_file.h"
#include "core/run/run_directory.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr int k_pose_frames = 5;

// A folder with growing collections of frames.
class PreviewSeries {
 public:
  PreviewSeries(const fs::path& directory, const WriteRule& rule, const std::string& series)
      : m_directory(directory), m_rule(rule), m_series(series), m_pvd(directory / (series + ".pvd")) {
    make_writable_directory(directory / "frames");
  }
  void add(const Geometry& geometry) {
    const auto frame = static_cast<int>(m_pvd.entries().size());
    const fs::path file = fs::path("frames") / fmt::format("{}_{:05}.vtp", m_series, frame);
    write_target(m_directory / file, m_rule, [&] { write_geometry(m_directory / file, geometry, frame); });
    m_pvd.add(frame, file);
    write_target(m_pvd.path(), m_rule, [&] { m_pvd.save(); });
  }

 private:
  fs::path m_directory;
  const WriteRule& m_rule;
  std::string m_series;
  PvdFile m_pvd;
};

Geometry triangles_of(const std::string& series, const Points& points, const Triangles& triangles) {
  Geometry geometry;
  geometry.series = series;
  geometry.points = points;
  geometry.connectivity.assign(triangles.data(), triangles.data() + triangles.size());
  return geometry;
}

// A ball at the middle of every handle; bones have one at each end too.
Geometry balls(const Points& surface, const Rig& rig, const BonePose* pose) {
  const double diagonal = (surface.colwise().maxCoeff() - surface.colwise().minCoeff()).norm();
  const TriMesh ball = make_sphere({.radius = 0.012 * diagonal, .resolution = 3});
  Geometry all = triangles_of("obstacles", Points(0, 3), Triangles(0, 3));
  for (std::size_t h = 0; h < rig.handles.size(); ++h) {
    const Handle& handle = rig.handles[h];
    const Vec3 centre = handle.centre();
    std::vector<Vec3> places{centre};
    if (handle.kind == HandleKind::bone) places = {handle.start, centre, handle.end};
    for (const Vec3& place : places) {
      const Vec3 moved = pose ? (*pose)[h].apply(centre, place) : place;
      Geometry one = triangles_of("obstacles", ball.vertices.rowwise() + moved.transpose(), ball.triangles);
      one.arrays.push_back(make_integer_array(
          "obstacle", Association::cell,
          std::vector<int>(static_cast<std::size_t>(ball.triangles.rows()), static_cast<int>(h))));
      append(all, one);
    }
  }
  return all;
}

std::vector<int> strongest_handles(const MatX& weights) {
  std::vector<int> strongest;
  for (Eigen::Index i = 0; i < weights.rows(); ++i) {
    Eigen::Index best = 0;
    weights.row(i).maxCoeff(&best);
    strongest.push_back(static_cast<int>(best));
  }
  return strongest;
}

BonePose part_of_the_way(const BonePose& pose, double t) {
  BonePose part;
  for (const BoneTransform& bone : pose) {
    part.push_back({t * bone.translation, Quat::Identity().slerp(t, bone.rotation)});
  }
  return part;
}

}  // namespace

void check_preview(const fs::path& directory, const WriteRule& rule) {
  if (holds_run(directory))
    throw InputError(Problem{directory.string(), "", "holds a run: choose another folder for the preview"});
  if (!fs::exists(directory)) return;
  for (const char* collection : {"surface.pvd", "obstacles.pvd"}) check_target(directory / collection, rule);
}

void write_rig_preview(const fs::path& directory, const WriteRule& rule, const TriMesh& surface,
                       const Rig& rig) {
  const MatX weights = rig.surface.dense();
  const std::vector<int> strongest = strongest_handles(weights);
  PreviewSeries frames(directory, rule, "surface"), handles(directory, rule, "obstacles");
  for (Eigen::Index h = 0; h <= weights.cols(); ++h) {
    Geometry geometry = triangles_of("surface", surface.vertices, surface.triangles);
    const bool last = h == weights.cols();
    const VecX shown = last ? VecX(weights.rowwise().maxCoeff()) : VecX(weights.col(h));
    geometry.arrays.push_back(make_array("weight", Association::point, shown));
    geometry.arrays.push_back(make_integer_array("strongest_handle", Association::point, strongest));
    geometry.arrays.push_back(
        make_array("strongest_weight", Association::point, VecX(weights.rowwise().maxCoeff())));
    frames.add(geometry);
    handles.add(balls(surface.vertices, rig, nullptr));
  }
}

void write_pose_preview(const fs::path& directory, const WriteRule& rule, const TriMesh& surface,
                        const Rig& rig, const BonePose& pose, const Points* target) {
  PreviewSeries frames(directory, rule, "surface"), handles(directory, rule, "obstacles");
  for (int f = 0; f < k_pose_frames; ++f) {
    const BonePose part = part_of_the_way(pose, f / (k_pose_frames - 1.0));
    const Points x = skin(surface.vertices, rig.centres(), rig.surface, part);
    Geometry geometry = triangles_of("surface", x, surface.triangles);
    geometry.arrays.push_back(make_array("displacement", Association::point, MatX(x - surface.vertices)));
    if (target) {
      const VecX error = f == k_pose_frames - 1 ? VecX((x - *target).rowwise().norm()) : VecX::Zero(x.rows());
      geometry.arrays.push_back(make_array("fit_error", Association::point, error));
    }
    frames.add(geometry);
    handles.add(balls(surface.vertices, rig, &part));
  }
}

}  // namespace exemplar
