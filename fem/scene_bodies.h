// From a scene's bodies to solids: example sets by region, plasticity, contact surface and a start without
// overlap.
#pragma once

#include <string>
#include <vector>

#include "core/scene/scene.h"
#include "fem/settings.h"
#include "fem/solid_model.h"

namespace exemplar {

// Which examples of the scene's body make up each of its example sets.
struct BodyExamples {
  std::vector<std::vector<std::size_t>> sets;  // indices into Body::examples()
};

SolidBody make_solid_body(const Body& body, const FemSettings& settings, BodyExamples& examples,
                          Notes& notes);

// For the compatible method, which knows one pose of the whole body: throws InputError, with its place, for
// every elastic example that shapes only a part.
void check_whole_body_examples(const Body& body, std::size_t index, const BodyExamples& examples);

// Surface triangles over the nodes of the body's tet mesh.
Triangles boundary_triangles(const TetMesh& mesh);

// The body's surface for contact: boundary nodes, or the embedded surface when the tets are only a cage.
ContactSurface contact_surface(const Body& body);

// Smallest shift of a whole body that leaves the gap `gap` to every obstacle: scenes may put things in exact
// touch. Throws InputError when the body starts deeper inside than `limit`.
Vec3 separating_shift(const Points& surface, const std::vector<ObstacleBody>& obstacles, double gap,
                      double limit, const std::string& body_name);

}  // namespace exemplar
