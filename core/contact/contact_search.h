// Which pairs can come within reach on a straight path: boxes of the moving features in a hierarchy, and a
// Lipschitz bound for points against signed distances. Pairs of the surface and of obstacles, and of two
// obstacles of which one is dynamic; pairs of the surface with itself are made by body_search.h.
#pragma once

#include <vector>

#include "core/contact/contact_points.h"

namespace exemplar {

std::vector<ContactPair> find_contact_pairs(const ContactPoints& points, const ContactPath& path);

}  // namespace exemplar
