#include "cost/work/instruction_of.h"

#include <cmath>

namespace tap::cost {

using ir::CellExprs, ir::CellId, ir::CellKind, ir::CellNode, ir::CellOp;

namespace {

// x / 4.0 → x * 0.25: exact, so LLVM does it.
bool is_exact_product(const CellExprs& exprs, const CellNode& quotient) {
  const CellNode& by = exprs[quotient.args[1]];
  int exponent = 0;
  return is_float(by.type) && by.op == CellOp::constant && std::isnormal(by.value.f) && std::isnormal(1 / by.value.f) &&
         std::abs(std::frexp(by.value.f, &exponent)) == 0.5;
}

std::optional<Instruction> instruction_of_op(CellOp op) {
  switch (op) {
    case CellOp::mul: return Instruction::arithmetic;
    case CellOp::min:
    case CellOp::max: return Instruction::minimum;
    case CellOp::div:
    case CellOp::mod: return Instruction::divide;
    case CellOp::sqrt:
    case CellOp::rsqrt: return Instruction::root;
    case CellOp::floor:
    case CellOp::ceil:
    case CellOp::round: return Instruction::round;
    case CellOp::exp:
    case CellOp::expm1:
    case CellOp::sigmoid: return Instruction::exponential;
    case CellOp::log:
    case CellOp::log1p: return Instruction::logarithm;
    case CellOp::sin:
    case CellOp::cos:
    case CellOp::tan: return Instruction::trigonometric;
    default: break;
  }
  switch (ir::info(op).kind) {
    case CellKind::leaf:
    case CellKind::reduction: return std::nullopt;
    case CellKind::arithmetic: return Instruction::add;
    case CellKind::comparison:
    case CellKind::logical:
    case CellKind::lazy: return Instruction::compare;
    case CellKind::function: return Instruction::function;
    case CellKind::integer_function: return Instruction::bits;
    case CellKind::cast: return Instruction::convert;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Instruction> instruction_of(const CellExprs& exprs, CellId id) {
  const CellNode& node = exprs[id];
  return node.op == CellOp::div && is_exact_product(exprs, node) ? Instruction::arithmetic : instruction_of_op(node.op);
}

}  // namespace tap::cost
