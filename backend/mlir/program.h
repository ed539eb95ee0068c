// A program in MLIR: functions on tensors, linalg.generic for maps and reductions, scf.for for iterates, shard
// annotations for shardings. mlir-opt 22 accepts and processes it.
//
//   func.func @mlp(%X: tensor<8x16xf32>, %W1: tensor<16x32xf32>) -> tensor<8x32xf32> { … }
//
// Unsupported programs are rejected with a reason, never translated wrongly: programs that are split into blocks,
// partial sums, meshes with an explicit device order.
#pragma once

#include "backend/mlir/operation.h"

namespace tap::backend::mlir {

// Calls are inlined. Pre: shardings have propagated. Throws Refused.
std::string write_program(const ir::Program& program);

}  // namespace tap::backend::mlir
