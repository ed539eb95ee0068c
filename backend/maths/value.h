// LLVM IR values with arithmetic operators: a Real is a float, a double, or a vector of them; Bits are integers of
// the same width; Mask is the result of comparing them. So a function is written once for all types:
//
//   Real t = fma(x, log2_e, shift);   // numbers become constants of x's type
//   return select(x < 0.0, -t, t);
//
// Each operator is one instruction; none is contracted or reassociated, so the bits do not depend on the number of
// lanes.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <cstdint>
#include <span>

namespace tap::backend::maths {

struct Bits;

struct Real {
  llvm::IRBuilderBase* b;
  llvm::Value* value;

  llvm::Type* type() const { return value->getType(); }
  bool is_double() const { return type()->getScalarType()->isDoubleTy(); }
  // A constant of this type; the second form depends on the precision.
  Real number(double x) const { return {b, llvm::ConstantFP::get(type(), x)}; }
  Real number(double if_float, double if_double) const { return number(is_double() ? if_double : if_float); }
  Bits bits() const;
};

struct Bits {
  llvm::IRBuilderBase* b;
  llvm::Value* value;

  Bits number(std::int64_t x) const { return {b, llvm::ConstantInt::getSigned(value->getType(), x)}; }
  Real real() const;
};

struct Mask {
  llvm::IRBuilderBase* b;
  llvm::Value* value;
};

inline Real operator+(Real x, Real y) { return {x.b, x.b->CreateFAdd(x.value, y.value)}; }
inline Real operator-(Real x, Real y) { return {x.b, x.b->CreateFSub(x.value, y.value)}; }
inline Real operator*(Real x, Real y) { return {x.b, x.b->CreateFMul(x.value, y.value)}; }
inline Real operator/(Real x, Real y) { return {x.b, x.b->CreateFDiv(x.value, y.value)}; }
inline Real operator-(Real x) { return {x.b, x.b->CreateFNeg(x.value)}; }
inline Real operator+(Real x, double y) { return x + x.number(y); }
inline Real operator-(Real x, double y) { return x - x.number(y); }
inline Real operator*(Real x, double y) { return x * x.number(y); }
inline Real operator-(double x, Real y) { return y.number(x) - y; }
inline Real operator/(double x, Real y) { return y.number(x) / y; }

// x * y + z, rounded once.
inline Real fma(Real x, Real y, Real z) {
  return {x.b, x.b->CreateIntrinsic(llvm::Intrinsic::fma, {x.type()}, {x.value, y.value, z.value})};
}
inline Real fma(Real x, Real y, double z) { return fma(x, y, x.number(z)); }
inline Real fma(Real x, double y, Real z) { return fma(x, x.number(y), z); }
inline Real fma(Real x, double y, double z) { return fma(x, x.number(y), x.number(z)); }

inline Real abs(Real x) { return {x.b, x.b->CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x.value)}; }
inline Real sqrt(Real x) { return {x.b, x.b->CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x.value)}; }
inline Real round_even(Real x) { return {x.b, x.b->CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x.value)}; }
inline Real copy_sign(Real size, Real sign) {
  return {size.b, size.b->CreateBinaryIntrinsic(llvm::Intrinsic::copysign, size.value, sign.value)};
}

// Comparisons with nan are false, except !=.
inline Mask operator<(Real x, Real y) { return {x.b, x.b->CreateFCmpOLT(x.value, y.value)}; }
inline Mask operator<=(Real x, Real y) { return {x.b, x.b->CreateFCmpOLE(x.value, y.value)}; }
inline Mask operator>(Real x, Real y) { return y < x; }
inline Mask operator>=(Real x, Real y) { return y <= x; }
inline Mask operator==(Real x, Real y) { return {x.b, x.b->CreateFCmpOEQ(x.value, y.value)}; }
inline Mask operator!=(Real x, Real y) { return {x.b, x.b->CreateFCmpUNE(x.value, y.value)}; }
inline Mask operator<(Real x, double y) { return x < x.number(y); }
inline Mask operator<=(Real x, double y) { return x <= x.number(y); }
inline Mask operator>(Real x, double y) { return x > x.number(y); }
inline Mask operator>=(Real x, double y) { return x >= x.number(y); }
inline Mask operator==(Real x, double y) { return x == x.number(y); }
inline Mask is_nan(Real x) { return {x.b, x.b->CreateFCmpUNO(x.value, x.value)}; }

inline Mask operator&(Mask x, Mask y) { return {x.b, x.b->CreateAnd(x.value, y.value)}; }
inline Mask operator|(Mask x, Mask y) { return {x.b, x.b->CreateOr(x.value, y.value)}; }
inline Mask operator!(Mask x) { return {x.b, x.b->CreateNot(x.value)}; }
inline Real select(Mask m, Real x, Real y) { return {x.b, x.b->CreateSelect(m.value, x.value, y.value)}; }
inline Real select(Mask m, double x, Real y) { return select(m, y.number(x), y); }
inline Real select(Mask m, Real x, double y) { return select(m, x, x.number(y)); }
inline Bits select(Mask m, Bits x, Bits y) { return {x.b, x.b->CreateSelect(m.value, x.value, y.value)}; }

// The minimum and maximum of x and a bound; nan stays nan. The operand order matches the machine's minimum instruction.
inline Real at_most(Real x, double bound) { return select(x.number(bound) < x, bound, x); }
inline Real at_least(Real x, double bound) { return select(x.number(bound) > x, bound, x); }

inline Bits operator+(Bits x, Bits y) { return {x.b, x.b->CreateAdd(x.value, y.value)}; }
inline Bits operator-(Bits x, Bits y) { return {x.b, x.b->CreateSub(x.value, y.value)}; }
inline Bits operator&(Bits x, Bits y) { return {x.b, x.b->CreateAnd(x.value, y.value)}; }
inline Bits operator|(Bits x, Bits y) { return {x.b, x.b->CreateOr(x.value, y.value)}; }
inline Bits operator^(Bits x, Bits y) { return {x.b, x.b->CreateXor(x.value, y.value)}; }
inline Bits operator+(Bits x, std::int64_t y) { return x + x.number(y); }
inline Bits operator-(Bits x, std::int64_t y) { return x - x.number(y); }
inline Bits operator&(Bits x, std::int64_t y) { return x & x.number(y); }
inline Bits operator<<(Bits x, int by) { return {x.b, x.b->CreateShl(x.value, x.number(by).value)}; }
inline Bits operator>>(Bits x, int by) {
  return {x.b, x.b->CreateLShr(x.value, x.number(by).value)};
}  // fills with zeros
inline Mask operator==(Bits x, std::int64_t y) { return {x.b, x.b->CreateICmpEQ(x.value, x.number(y).value)}; }

inline Bits Real::bits() const {
  llvm::Type* integer = type()->getWithNewType(b->getIntNTy(is_double() ? 64 : 32));
  return {b, b->CreateBitCast(value, integer)};
}
inline Real Bits::real() const {
  bool is_double = value->getType()->getScalarSizeInBits() == 64;
  llvm::Type* real = value->getType()->getWithNewType(is_double ? b->getDoubleTy() : b->getFloatTy());
  return {b, b->CreateBitCast(value, real)};
}

// c[0] + c[1] x + c[2] x² …
inline Real polynomial(Real x, std::span<const double> c) {
  Real sum = x.number(c.back());
  for (std::size_t k = c.size() - 1; k-- > 0;) sum = fma(sum, x, c[k]);
  return sum;
}
// The same with half the latency: even and odd powers separately.
inline Real wide_polynomial(Real x, std::span<const double> c) {
  Real square = x * x, last = x.number(c.back()), other = x.number(c[c.size() - 2]);
  for (std::size_t k = c.size() - 2; k-- > 0;) {
    Real next = fma(last, square, c[k]);
    last = other, other = next;
  }
  return fma(last, x, other);
}

// The floating-point format of x's type.
struct Format {
  int mantissa;  // bits stored of it
  int bias;      // of the exponent
};
inline Format format(Real x) { return x.is_double() ? Format{52, 1023} : Format{23, 127}; }

}  // namespace tap::backend::maths
