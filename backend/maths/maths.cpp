#include "backend/maths/maths.h"

#include "backend/maths/functions.h"
#include "support/check.h"

namespace tap::backend::maths {

llvm::Value* emit_function(llvm::IRBuilderBase& b, ir::CellOp op, const std::vector<llvm::Value*>& args) {
  using ir::CellOp;
  Real x{&b, args[0]};
  switch (op) {
    case CellOp::pow: return pow(x, {&b, args[1]}).value;
    case CellOp::sigmoid: return sigmoid(x).value;
    case CellOp::exp: return exp(x).value;
    case CellOp::expm1: return expm1(x).value;
    case CellOp::log: return log(x).value;
    case CellOp::log1p: return log1p(x).value;
    case CellOp::sin: return sin(x).value;
    case CellOp::cos: return cos(x).value;
    case CellOp::tan: return tan(x).value;
    case CellOp::asin: return asin(x).value;
    case CellOp::acos: return acos(x).value;
    case CellOp::atan: return atan(x).value;
    case CellOp::sinh: return sinh(x).value;
    case CellOp::cosh: return cosh(x).value;
    case CellOp::tanh: return tanh(x).value;
    case CellOp::asinh: return asinh(x).value;
    case CellOp::acosh: return acosh(x).value;
    case CellOp::atanh: return atanh(x).value;
    case CellOp::erf: return erf(x).value;
    default: TAP_UNREACHABLE("`" + std::string(ir::info(op).name) + "` has no implementation");
  }
}

}  // namespace tap::backend::maths
