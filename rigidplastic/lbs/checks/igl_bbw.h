// libigl's bounded biharmonic weights, the peer that ours are measured against: one source file, because libigl's
// headers take long to compile.
#pragma once

#include "core/mesh/mesh.h"
#include "core/rig/bbw.h"

namespace exemplar {

// `igl::bbw` run to convergence of its active set (at most `max_iterations` a handle). Its problem is that of
// BbwOptions::partition_of_unity = false; rows are not normalised.
MatX igl_bounded_biharmonic_weights(const TetMesh& mesh, const FixedRows& fixed, int max_iterations = 100);

// Q of `igl::harmonic` with k = 2.
SparseMatrix igl_biharmonic_matrix(const TetMesh& mesh);

}  // namespace exemplar
