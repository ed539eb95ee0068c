// Types in registers and memory, constants, conversions.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "backend/llvm/emit_arithmetic.h"
#include "support/check.h"

namespace tap::backend {
namespace {

using llvm::IRBuilderBase;
using llvm::Value;

bool is_double(Value* value) { return value->getType()->getScalarType()->isDoubleTy(); }
// The scalar type, or a vector of it with as many lanes as the value.
llvm::Type* as_many(Value* value, llvm::Type* scalar) { return value->getType()->getWithNewType(scalar); }
Value* number(llvm::Type* type, std::int64_t value) { return llvm::ConstantInt::getSigned(type, value); }

// double → float such that a later rounding to a narrower float gives the same as rounding once: lost bits set the
// lowest bit (round to odd).
Value* round_to_odd(IRBuilderBase& b, Value* wide) {
  Value* narrow = b.CreateFPTrunc(wide, as_many(wide, b.getFloatTy()));
  Value* back = b.CreateFPExt(narrow, wide->getType());
  llvm::Type* integer = as_many(wide, b.getInt32Ty());
  Value* bits = b.CreateBitCast(narrow, integer);
  Value* even = b.CreateICmpEQ(b.CreateAnd(bits, 1), number(integer, 0));
  Value* adjust = b.CreateAnd(b.CreateFCmpONE(back, wide), even);
  Value* grew = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide));
  Value* odd = b.CreateAdd(bits, b.CreateSelect(grew, number(integer, -1), number(integer, 1)));
  return b.CreateBitCast(b.CreateSelect(adjust, odd, bits), narrow->getType());
}

Value* bf16_bits(IRBuilderBase& b, Value* value) {
  llvm::Type* integer = as_many(value, b.getInt32Ty());
  Value* bits = b.CreateBitCast(value, integer);
  Value* high = b.CreateLShr(bits, 16);
  Value* rounding = b.CreateAdd(b.CreateAnd(high, 1), number(integer, 0x7fff));
  Value* rounded = b.CreateLShr(b.CreateAdd(bits, rounding), 16);
  Value* quiet = b.CreateOr(high, 0x40);
  return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, rounded), as_many(value, b.getInt16Ty()));
}

Value* float_from_bf16(IRBuilderBase& b, Value* bits) {
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, as_many(bits, b.getInt32Ty())), 16),
                         as_many(bits, b.getFloatTy()));
}

// A float or double rounded to the type's precision, in the type's register form.
Value* round_float(IRBuilderBase& b, Value* value, ElementType to) {
  bool wide = is_double(value);
  switch (to) {
    case ElementType::f64: return wide ? value : b.CreateFPExt(value, as_many(value, b.getDoubleTy()));
    case ElementType::f32: return wide ? b.CreateFPTrunc(value, as_many(value, b.getFloatTy())) : value;
    case ElementType::f16:
    case ElementType::bf16:
      if (wide) value = round_to_odd(b, value);
      return from_memory(b, to_memory(b, value, to), to);
    case ElementType::i64:
    case ElementType::i32:
    case ElementType::i16:
    case ElementType::i8:
    case ElementType::u8:
    case ElementType::boolean: break;
  }
  TAP_UNREACHABLE("not a float type");
}

// For vectors, the intrinsic is expanded lane by lane; comparisons with the limits are not.
Value* saturate_lanes(IRBuilderBase& b, Value* value, ElementType to) {
  bool is_signed = info(to).is_signed;
  auto width = static_cast<int>(8 * size_of(to)), bits = is_signed ? width - 1 : width;
  Value* end = llvm::ConstantFP::get(value->getType(), std::ldexp(1.0, bits));
  Value* begin = llvm::ConstantFP::get(value->getType(), is_signed ? -std::ldexp(1.0, bits) : 0.0);
  Value* above = b.CreateFCmpOGE(value, end);
  Value* below = b.CreateFCmpOLT(value, begin);
  Value* outside = b.CreateOr(b.CreateOr(above, below), b.CreateFCmpUNO(value, value));
  Value* inside = b.CreateSelect(outside, llvm::Constant::getNullValue(value->getType()), value);
  llvm::Type* middle = as_many(value, width < 64 ? b.getInt32Ty() : b.getInt64Ty());
  llvm::Type* type = as_many(value, register_type(b.getContext(), to));
  Value* result = b.CreateIntCast(b.CreateFPToSI(inside, middle), type, true);
  result = b.CreateSelect(above, number(type, greatest_integer(to)), result);
  return b.CreateSelect(below, number(type, least_integer(to)), result);
}

Value* float_to_integer(IRBuilderBase& b, Value* value, ElementType to) {
  if (value->getType()->isVectorTy()) return saturate_lanes(b, value, to);
  auto id = info(to).is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return b.CreateIntrinsic(id, {register_type(b.getContext(), to), value->getType()}, {value});
}

// folded_for_half (support/half.h): any i64 as an integer that a double represents.
Value* folded_for_half(IRBuilderBase& b, Value* value) {
  llvm::Type* type = value->getType();
  constexpr std::int64_t step = 2048, exact = std::int64_t{1} << 53;
  Value* inside = b.CreateICmpULT(b.CreateAdd(value, number(type, exact - 1)), number(type, 2 * exact - 1));
  Value* whole = b.CreateICmpEQ(b.CreateAnd(value, number(type, step - 1)), number(type, 0));
  Value* folded = b.CreateOr(b.CreateAnd(value, number(type, ~(step - 1))), number(type, step));
  return b.CreateSelect(b.CreateOr(inside, whole), value, folded);
}

Value* integer_to_float(IRBuilderBase& b, Value* value, ElementType from, ElementType to) {
  bool narrow = to == ElementType::f32;
  if (from == ElementType::i64 && !narrow && to != ElementType::f64) value = folded_for_half(b, value);
  llvm::Type* type = as_many(value, narrow ? b.getFloatTy() : b.getDoubleTy());
  Value* exact = info(from).is_signed && !is_bool(from) ? b.CreateSIToFP(value, type) : b.CreateUIToFP(value, type);
  return narrow ? exact : round_float(b, exact, to);
}

}  // namespace

llvm::Type* register_type(llvm::LLVMContext& context, ElementType type) {
  switch (type) {
    case ElementType::f64: return llvm::Type::getDoubleTy(context);
    case ElementType::f32:
    case ElementType::f16:
    case ElementType::bf16: return llvm::Type::getFloatTy(context);
    case ElementType::i64:
    case ElementType::i32:
    case ElementType::i16:
    case ElementType::i8:
    case ElementType::u8: return llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * size_of(type)));
    case ElementType::boolean: return llvm::Type::getInt1Ty(context);
  }
  TAP_UNREACHABLE("an unknown element type");
}

llvm::Type* memory_type(llvm::LLVMContext& context, ElementType type) {
  if (type == ElementType::f16) return llvm::Type::getHalfTy(context);
  if (type == ElementType::bf16) return llvm::Type::getInt16Ty(context);
  if (is_bool(type)) return llvm::Type::getInt8Ty(context);
  return register_type(context, type);
}

Value* from_memory(IRBuilderBase& b, Value* value, ElementType type) {
  if (type == ElementType::f16) return b.CreateFPExt(value, as_many(value, b.getFloatTy()));
  if (type == ElementType::bf16) return float_from_bf16(b, value);
  if (is_bool(type)) return b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  return value;
}

Value* to_memory(IRBuilderBase& b, Value* value, ElementType type) {
  if (type == ElementType::f16) return b.CreateFPTrunc(value, as_many(value, b.getHalfTy()));
  if (type == ElementType::bf16) return bf16_bits(b, value);
  if (is_bool(type)) return b.CreateZExt(value, as_many(value, b.getInt8Ty()));
  return value;
}

Value* emit_constant(llvm::LLVMContext& context, const ir::Scalar& value) {
  llvm::Type* type = register_type(context, value.type);
  if (is_float(value.type)) return llvm::ConstantFP::get(type, value.f);
  return llvm::ConstantInt::get(
      type, static_cast<std::uint64_t>(value.i) & (is_bool(value.type) ? 1u : ~std::uint64_t{0}), false, true);
}

Value* emit_cast(IRBuilderBase& b, Value* value, ElementType from, ElementType to) {
  if (from == to) return value;
  if (is_bool(to)) {
    Value* zero = llvm::Constant::getNullValue(value->getType());
    return is_float(from) ? b.CreateFCmpUNE(value, zero) : b.CreateICmpNE(value, zero);
  }
  if (is_float(from)) return is_float(to) ? round_float(b, value, to) : float_to_integer(b, value, to);
  if (is_float(to)) return integer_to_float(b, value, from, to);
  return b.CreateIntCast(value, as_many(value, register_type(b.getContext(), to)),
                         info(from).is_signed && !is_bool(from));
}

}  // namespace tap::backend
