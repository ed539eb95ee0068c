#include "cost/work/instruction_of.h"

namespace tap::cost {

using ir::CellKind, ir::CellOp;

std::optional<Instruction> instruction_of(CellOp op) {
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

}  // namespace tap::cost
