// A scene's body as contact between bodies of particles sees it.
#pragma once

#include "core/contact/carried_contact.h"
#include "core/scene/scene.h"

namespace exemplar {

// `vertices`: what carries the vertices of its surface.
inline CarriedBody carried_body(const Body& body, const CarriedPoints& vertices) {
  return {vertices, body.surface(), body.is_sheet() ? body.settings().thickness : 0.0,
          body.material().friction};
}

}  // namespace exemplar
