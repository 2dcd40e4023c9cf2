// From a scene's bodies to solids: example sets by region, plasticity, contact surface.
#pragma once

#include <string>
#include <vector>

#include "core/run/implicit_method.h"
#include "fem/settings.h"
#include "fem/solid_model.h"

namespace exemplar::fem {

// `sets`: which examples of the scene's body make up each of its example sets (their terms are not known
// yet).
SolidBody make_solid_body(const Body& body, const Settings& settings, std::vector<ImplicitExamples>& sets,
                          Notes& notes);

// Throws InputError, with its place, for sets of the settings that name what the scene does not have, or
// twice.
void check_example_sets(const Scene& scene, const ExamplePotentialSettings& settings,
                        const std::string& method);

// For the compatible method, which knows one pose of the whole body: throws InputError, with its place, for
// every elastic example that shapes only a part, and for more than one set.
void check_whole_body_examples(const Body& body, std::size_t index,
                               const std::vector<ImplicitExamples>& sets);

// Surface triangles over the nodes of the body's tet mesh; quadratic faces are four triangles each.
Triangles boundary_triangles(const TetMesh& mesh, const Midsides& midsides = {});

// The body's surface on the nodes of its tets.
PointMap surface_map(const Body& body, const SolidBody& solid);

// The body's surface for contact: boundary nodes, or the embedded surface when the tets are only a cage.
ContactSurface contact_surface(const Body& body, const SolidBody& solid);

}  // namespace exemplar::fem
