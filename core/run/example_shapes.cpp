#include "core/run/example_shapes.h"

#include <string>

namespace exemplar {

namespace {

Geometry shape_of(const Body& body) {
  const TriMesh& rest = body.surface();
  Geometry shape;
  shape.points = rest.vertices;
  shape.connectivity.assign(rest.triangles.data(), rest.triangles.data() + rest.triangles.size());
  for (const Example& example : body.examples())
    shape.arrays.push_back(make_array("weight_" + body.name() + "_" + example.name, Association::point,
                                      example.surface - rest.vertices));
  return shape;
}

}  // namespace

Geometry example_shapes(const Scene& scene) {
  Geometry all;
  std::size_t count = 0;
  for (const Body& body : scene.bodies) {
    if (body.examples().empty() || count == k_most_example_shapes) continue;
    if (count++ == 0) {
      all = shape_of(body);
    } else {
      append(all, shape_of(body));
    }
  }
  return all;
}

}  // namespace exemplar
