// A program in MLIR: functions on tensors, linalg.generic for what computes cells, scf.for for repetitions, shard annotations
// for shardings. mlir-opt 22 accepts it, and can go on from there.
//
//   func.func @mlp(%X: tensor<8x16xf32>, %W1: tensor<16x32xf32>) -> tensor<8x32xf32> { … }
//
// What it cannot say is refused by name, never written wrongly: programs that are cut into blocks already, partial sums,
// devices in an order of their own.
#pragma once

#include "backend/mlir/operation.h"

namespace tap::backend::mlir {

// Calls are written where they stand. Pre: shardings have spread. Throws Refused.
std::string write_program(const ir::Program& program);

}  // namespace tap::backend::mlir
