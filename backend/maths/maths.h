// Floating-point functions as straight-line code, without calls of the C library: they vectorise and give the same
// bits for any number of lanes, machine and C library. Values are float, double or vectors of them.
#pragma once

#include <vector>

#include "ir/cell.h"

namespace llvm {
class IRBuilderBase;
class Value;
}  // namespace llvm

namespace tap::backend::maths {

// Pre: `op` is a float function without an instruction of its own (TAP_CELL_LIBRARY in ir/cell_ops.def, or sigmoid).
// The builder may end in a different block: sin, cos and tan branch if a lane is huge.
llvm::Value* emit_function(llvm::IRBuilderBase& b, ir::CellOp op, const std::vector<llvm::Value*>& args);

}  // namespace tap::backend::maths
