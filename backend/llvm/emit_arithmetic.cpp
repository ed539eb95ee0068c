#include "backend/llvm/emit_arithmetic.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include "backend/loops/may_fail.h"
#include "backend/maths/maths.h"
#include "support/check.h"

namespace tap::backend {
namespace {

using ir::CellOp;
using llvm::IRBuilderBase;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

bool is_signed(ElementType type) { return !is_bool(type) && info(type).is_signed; }

Value* float_sign(IRBuilderBase& b, Value* x) {
  Value* zero = llvm::ConstantFP::get(x->getType(), 0.0);
  Value* one = llvm::ConstantFP::get(x->getType(), 1.0);
  Value* minus = llvm::ConstantFP::get(x->getType(), -1.0);
  Value* rest = b.CreateSelect(b.CreateFCmpUNO(x, x), x, zero);
  return b.CreateSelect(b.CreateFCmpOGT(x, zero), one, b.CreateSelect(b.CreateFCmpOLT(x, zero), minus, rest));
}

// The remainder of floor division: zero or of the divisor's sign.
Value* float_mod(IRBuilderBase& b, Value* x, Value* y) {
  Value* zero = llvm::ConstantFP::get(x->getType(), 0.0);
  Value* r = b.CreateFRem(x, y);
  Value* differ = b.CreateXor(b.CreateFCmpOLT(r, zero), b.CreateFCmpOLT(y, zero));
  Value* moved = b.CreateSelect(differ, b.CreateFAdd(r, y), r);
  return b.CreateSelect(b.CreateFCmpOEQ(r, zero), b.CreateBinaryIntrinsic(Intrinsic::copysign, zero, y), moved);
}

Value* is_infinite(IRBuilderBase& b, Value* x) {
  return b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(Intrinsic::fabs, x), llvm::ConstantFP::getInfinity(x->getType()));
}

Value* float_operation(IRBuilderBase& b, CellOp op, const std::vector<Value*>& args) {
  Value* x = args[0];
  Value* y = args.size() > 1 ? args[1] : nullptr;
  switch (op) {
    case CellOp::neg: return b.CreateFNeg(x);
    case CellOp::add: return b.CreateFAdd(x, y);
    case CellOp::sub: return b.CreateFSub(x, y);
    case CellOp::mul: return b.CreateFMul(x, y);
    case CellOp::div: return b.CreateFDiv(x, y);
    case CellOp::mod: return float_mod(b, x, y);
    case CellOp::min: return b.CreateBinaryIntrinsic(Intrinsic::minimum, x, y);
    case CellOp::max: return b.CreateBinaryIntrinsic(Intrinsic::maximum, x, y);
    case CellOp::abs: return b.CreateUnaryIntrinsic(Intrinsic::fabs, x);
    case CellOp::sign: return float_sign(b, x);
    case CellOp::equal: return b.CreateFCmpOEQ(x, y);
    case CellOp::not_equal: return b.CreateFCmpUNE(x, y);
    case CellOp::less: return b.CreateFCmpOLT(x, y);
    case CellOp::less_equal: return b.CreateFCmpOLE(x, y);
    case CellOp::isnan: return b.CreateFCmpUNO(x, x);
    case CellOp::isinf: return is_infinite(b, x);
    case CellOp::sqrt: return b.CreateUnaryIntrinsic(Intrinsic::sqrt, x);
    case CellOp::rsqrt:
      return b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1.0), b.CreateUnaryIntrinsic(Intrinsic::sqrt, x));
    case CellOp::floor: return b.CreateUnaryIntrinsic(Intrinsic::floor, x);
    case CellOp::ceil: return b.CreateUnaryIntrinsic(Intrinsic::ceil, x);
    case CellOp::round: return b.CreateUnaryIntrinsic(Intrinsic::roundeven, x);
    case CellOp::sigmoid:
#define TAP_CELL_LIBRARY(name, ...) case CellOp::name:
#include "ir/cell_ops.def"
      return maths::emit_function(b, op, args);
#define TAP_CELL_FRAME(name, ...) case CellOp::name:
#define TAP_CELL_INTEGER(name, ...) case CellOp::name:
#include "ir/cell_ops.def"
      break;
  }
  TAP_UNREACHABLE("`" + std::string(ir::info(op).name) + "` is not an operation on floats");
}

Value* number(Value* like, std::int64_t value) { return llvm::ConstantInt::getSigned(like->getType(), value); }

// Quotient and remainder that round towards minus infinity. Keeps a divisor of -1 away from sdiv, which is undefined
// for the least number divided by it.
Value* floor_division(IRBuilderBase& b, bool quotient, bool is_signed, Value* x, Value* y) {
  if (!is_signed) return quotient ? b.CreateUDiv(x, y) : b.CreateURem(x, y);
  Value* minus_one = b.CreateICmpEQ(y, number(y, -1));
  Value* divisor = b.CreateSelect(minus_one, number(y, 1), y);
  Value* r = b.CreateSRem(x, divisor);
  Value* differ = b.CreateICmpSLT(b.CreateXor(r, divisor), number(y, 0));
  Value* adjust = b.CreateAnd(b.CreateICmpNE(r, number(y, 0)), differ);
  if (!quotient) {
    Value* moved = b.CreateAdd(r, b.CreateSelect(adjust, divisor, number(y, 0)));
    return b.CreateSelect(minus_one, number(y, 0), moved);
  }
  Value* q = b.CreateSub(b.CreateSDiv(x, divisor), b.CreateZExt(adjust, x->getType()));
  return b.CreateSelect(minus_one, b.CreateNeg(x), q);
}

// Shifts by the width or more are defined: only the sign is left.
Value* shift(IRBuilderBase& b, CellOp op, bool is_signed, Value* x, Value* by) {
  std::int64_t width = x->getType()->getScalarSizeInBits();
  Value* fits = b.CreateICmpULT(by, number(by, width));
  Value* amount = b.CreateSelect(fits, by, number(by, 0));
  if (op == CellOp::shl) return b.CreateSelect(fits, b.CreateShl(x, amount), number(x, 0));
  if (!is_signed) return b.CreateSelect(fits, b.CreateLShr(x, amount), number(x, 0));
  return b.CreateAShr(x, b.CreateSelect(fits, by, number(by, width - 1)));
}

Value* integer_sign(IRBuilderBase& b, bool is_signed, Value* x) {
  Value* positive =
      b.CreateZExt(is_signed ? b.CreateICmpSGT(x, number(x, 0)) : b.CreateICmpNE(x, number(x, 0)), x->getType());
  if (!is_signed) return positive;
  return b.CreateSub(positive, b.CreateZExt(b.CreateICmpSLT(x, number(x, 0)), x->getType()));
}

Value* integer_operation(IRBuilderBase& b, CellOp op, ElementType type, const std::vector<Value*>& args) {
  Value* x = args[0];
  Value* y = args.size() > 1 ? args[1] : nullptr;
  bool has_sign = is_signed(type);
  switch (op) {
    case CellOp::neg: return b.CreateNeg(x);
    case CellOp::add: return b.CreateAdd(x, y);
    case CellOp::sub: return b.CreateSub(x, y);
    case CellOp::mul: return b.CreateMul(x, y);
    case CellOp::div:
    case CellOp::mod: return floor_division(b, op == CellOp::div, has_sign, x, y);
    case CellOp::min: return b.CreateBinaryIntrinsic(has_sign ? Intrinsic::smin : Intrinsic::umin, x, y);
    case CellOp::max: return b.CreateBinaryIntrinsic(has_sign ? Intrinsic::smax : Intrinsic::umax, x, y);
    case CellOp::abs: return has_sign ? b.CreateIntrinsic(Intrinsic::abs, {x->getType()}, {x, b.getFalse()}) : x;
    case CellOp::sign: return integer_sign(b, has_sign, x);
    case CellOp::equal: return b.CreateICmpEQ(x, y);
    case CellOp::not_equal: return b.CreateICmpNE(x, y);
    case CellOp::less: return has_sign ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
    case CellOp::less_equal: return has_sign ? b.CreateICmpSLE(x, y) : b.CreateICmpULE(x, y);
    case CellOp::logical_not:
    case CellOp::bitnot: return b.CreateNot(x);
    case CellOp::bitand_: return b.CreateAnd(x, y);
    case CellOp::bitor_: return b.CreateOr(x, y);
    case CellOp::bitxor_: return b.CreateXor(x, y);
    case CellOp::shl:
    case CellOp::shr: return shift(b, op, has_sign, x, y);
#define TAP_CELL_FRAME(name, ...) case CellOp::name:
#define TAP_CELL_FLOAT(name, ...) case CellOp::name:
#define TAP_CELL_LIBRARY(name, ...) case CellOp::name:
#include "ir/cell_ops.def"
      break;
  }
  TAP_UNREACHABLE("`" + std::string(ir::info(op).name) + "` is not an operation on integers");
}

}  // namespace

Value* emit_operation(IRBuilderBase& b, CellOp op, ElementType type, const std::vector<Value*>& args,
                      const FailIf& fail_if) {
  if (is_float(type)) return float_operation(b, op, args);
  auto* second_argument = args.size() > 1 ? llvm::dyn_cast<llvm::Constant>(args[1]) : nullptr;
  if (second_argument && second_argument->getType()->isVectorTy()) second_argument = second_argument->getSplatValue();
  auto* constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(second_argument);
  ir::Scalar second{type, constant ? constant->getSExtValue() : 0, 0};
  if (operation_may_fail(op, type, constant ? &second : nullptr)) {
    Value* by = args[1];
    if (op == CellOp::div) fail_if(b.CreateICmpEQ(by, number(by, 0)), KernelFailure::division_by_zero, by);
    if (op == CellOp::mod) fail_if(b.CreateICmpEQ(by, number(by, 0)), KernelFailure::remainder_by_zero, by);
    if (op == CellOp::shl || op == CellOp::shr)
      fail_if(b.CreateICmpSLT(by, number(by, 0)), KernelFailure::negative_shift, by);
  }
  return integer_operation(b, op, type, args);
}

}  // namespace tap::backend
