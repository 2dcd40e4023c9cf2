#include "core/run/example_shapes.h"

#include <string>

namespace exemplar {

std::vector<Geometry> example_shapes(const Scene& scene) {
  std::vector<Geometry> shapes;
  for (const Body& body : scene.bodies) {
    if (body.examples().empty() || shapes.size() == k_most_example_shapes) continue;
    const TriMesh& rest = body.surface();
    Geometry shape;
    shape.series = std::to_string(shapes.size());
    shape.points = rest.vertices;
    shape.connectivity.assign(rest.triangles.data(), rest.triangles.data() + rest.triangles.size());
    for (const Example& example : body.examples())
      shape.arrays.push_back(make_array("weight_" + body.name() + "_" + example.name, Association::point,
                                        example.surface - rest.vertices));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace exemplar
