// What a body is filled with before it is cut into particles: a closed surface and tets that conform to it.
// Surfaces that cannot be filled as they are (they cross themselves, or have more triangles than TetGen is given)
// are meshed anew from their signed distance, with edges as long as the particles' spacing. The cage that other
// methods use would not do: particles cut from it reach beyond the surface (mass +28 to +45 %), and the pieces of
// the surface do not close them. Lengths in metres.
#pragma once

#include <string>

#include "core/mesh/volume/tetrahedralize.h"
#include "meshless/peridynamics/elements/elements.h"
#include "meshless/peridynamics/elements/layers.h"

namespace exemplar::peridynamics {

struct Filling {
  TriMesh surface;
  TetMesh volume;
  bool is_remeshed = false;
  bool is_cage = false;    // nothing else was possible
  bool is_hollow = false;  // layers, with nothing inside the innermost
};

// `closed`: the body's surface; `volume`: how the scene fills it; `measure`: the volume that it has [m³].
Filling fill_body(ElementKind kind, const TriMesh& closed, const Volume& volume, double spacing,
                  double measure);

// Tets between offset layers (elements/layers.h); the surface is theirs.
Filling fill_with_layers(const TriMesh& closed, const LayerOptions& options, std::string& note);

}  // namespace exemplar::peridynamics
