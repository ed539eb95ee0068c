#include "backend/maths/maths.h"

#include "backend/maths/functions.h"
#include "support/check.h"

namespace tap::backend::maths {

llvm::Value* emit_function(llvm::IRBuilderBase& b, ir::CellOp op, const std::vector<llvm::Value*>& args) {
  using ir::CellOp;
  Real x{&b, args[0]};
  switch (op) {
    case CellOp::exp: return exp(x).value;
    case CellOp::expm1: return expm1(x).value;
    case CellOp::log: return log(x).value;
    case CellOp::log1p: return log1p(x).value;
    case CellOp::tanh: return tanh(x).value;
    case CellOp::sigmoid: return sigmoid(x).value;
    default: TAP_UNREACHABLE("`" + std::string(ir::info(op).name) + "` has no code of its own");
  }
}

}  // namespace tap::backend::maths
