#include "core/mesh/models/model_frame.h"

#include <algorithm>

namespace exemplar {

TriMesh mesh_model(const ImplicitField& reference_shape, const ModelFrame& frame) {
  const double smallest_scale = frame.scale.minCoeff();
  const Vec3 inverse = frame.scale.cwiseInverse();
  const ImplicitField stretched = [&](const Vec3& p) {
    return smallest_scale * reference_shape(p.cwiseProduct(inverse));
  };
  ImplicitMeshing options;
  options.low = frame.low.cwiseProduct(frame.scale);
  options.high = frame.high.cwiseProduct(frame.scale);
  options.edge_length = frame.edge_length;
  options.smallest_edge = 0.5 * frame.edge_length;
  options.cell = std::min(0.7 * frame.edge_length, frame.finest_cell * smallest_scale);
  return mesh_implicit(stretched, options);
}

void fit_axis(TriMesh& mesh, int axis, double low, double high) {
  auto column = mesh.vertices.col(axis);
  const double from = column.minCoeff();
  const double factor = (high - low) / (column.maxCoeff() - from);
  column = (low + (column.array() - from) * factor).matrix();
}

}  // namespace exemplar
