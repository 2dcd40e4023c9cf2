// Writing VTK's XML formats; false when the file cannot be written. See files.h.
#pragma once

#include <string>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

bool write_vtp(const std::string& path, const TriMesh& mesh);
bool write_vtu(const std::string& path, const TetMesh& mesh);
// Lines first, then triangles, with one mark each in the cell array `problem`.
bool write_marked_vtp(const std::string& path, const Points& points, const Edges& lines,
                      const Triangles& triangles, const std::vector<int>& marks);

}  // namespace exemplar
