// Quarter turns of huge numbers (Payne and Hanek): x = M 2^E with an integer M of 53 bits, and x / 2π modulo 1 is M
// times the bits of 1 / 2π from 2^-(E+1) on, modulo 1. With 192 of them, more than 60 bits are correct even for the
// double that is closest to a multiple of a quarter turn. One internal function per module, for one number.
#include <llvm/IR/Module.h>

#include <array>

#include "backend/maths/trig.h"

namespace tap::backend::maths {
namespace {

// A word of zeros, then the bits of 1 / 2π after the binary point.
constexpr std::array<std::uint64_t, 20> inverse_turn = {
    0x0000000000000000, 0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158,
    0x6dc91b8e909374b8, 0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121, 0x3a671c09ad17df90,
    0x4e64758e60d4ce7d, 0x272117e2ef7e4a0e, 0xc7fe25fff7816603, 0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d,
    0xd3d18fd9a797fa8b, 0x5d49eeb1faf97c5e, 0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea};

llvm::Value* window(llvm::IRBuilderBase& b, llvm::Module& module, llvm::Value* from) {
  auto* words = llvm::ConstantDataArray::get(module.getContext(), inverse_turn);
  auto* table = new llvm::GlobalVariable(module, words->getType(), true, llvm::GlobalValue::PrivateLinkage, words);
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  llvm::Type* wide = b.getIntNTy(256);
  llvm::Value* index = b.CreateLShr(from, 6);
  llvm::Value* all = llvm::ConstantInt::get(wide, 0);
  for (unsigned k = 0; k < 4; ++k) {
    llvm::Value* at = b.CreateInBoundsGEP(words->getType(), table, {b.getInt64(0), b.CreateAdd(index, b.getInt64(k))});
    all = b.CreateOr(all, b.CreateShl(b.CreateZExt(b.CreateLoad(b.getInt64Ty(), at), wide), 192 - 64 * k));
  }
  llvm::Value* aligned = b.CreateShl(all, b.CreateZExt(b.CreateAnd(from, 63), wide));
  return b.CreateTrunc(b.CreateLShr(aligned, 64), b.getIntNTy(192));
}

// Whole bits of `value` from `shift` on, as a double.
Real whole(llvm::IRBuilderBase& b, llvm::Value* value, unsigned shift) {
  llvm::Value* bits = b.CreateAnd(b.CreateTrunc(b.CreateLShr(value, shift), b.getInt64Ty()), (1LL << 53) - 1);
  return {&b, b.CreateUIToFP(bits, b.getDoubleTy())};
}

// (r, lost, quadrant) of a double that is 2^16 or more, and finite.
void emit_body(llvm::IRBuilderBase& b, llvm::Module& module, llvm::Value* x) {
  llvm::Type* i192 = b.getIntNTy(192);
  llvm::Value* bits = b.CreateBitCast(x, b.getInt64Ty());
  llvm::Value* exponent = b.CreateAnd(b.CreateLShr(bits, 52), 0x7ff);
  llvm::Value* m = b.CreateOr(b.CreateAnd(bits, (1LL << 52) - 1), b.getInt64(1LL << 52));
  llvm::Value* turns =  // the fraction, in units of 2^-192
      b.CreateMul(b.CreateZExt(m, i192), window(b, module, b.CreateSub(exponent, b.getInt64(1075 - 64))));
  llvm::Value* eighth = b.CreateShl(llvm::ConstantInt::get(i192, 1), 189);
  llvm::Value* quadrant = b.CreateLShr(b.CreateAdd(turns, eighth), 190);
  llvm::Value* rest = b.CreateSub(turns, b.CreateShl(quadrant, 190));
  llvm::Value* below = b.CreateICmpSLT(rest, llvm::ConstantInt::get(i192, 0));
  llvm::Value* size = b.CreateSelect(below, b.CreateNeg(rest), rest);
  llvm::Value* zeros = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {i192}, {size, b.getFalse()});
  llvm::Value* top = b.CreateShl(size, zeros);
  llvm::Value* power = b.CreateSub(b.getInt64(1023), b.CreateTrunc(zeros, b.getInt64Ty()));
  Real scale = {&b, b.CreateBitCast(b.CreateShl(power, 52), b.getDoubleTy())};
  Real high = whole(b, top, 192 - 53) * 0x1p-53 * scale, low = whole(b, top, 192 - 106) * 0x1p-106 * scale;
  // Times 2π.
  Real near = high * 0x1.921fb54442d18p+2;
  Real more = fma(low, 0x1.921fb54442d18p+2, fma(high, 0x1.1a62633145c07p-52, fma(high, 0x1.921fb54442d18p+2, -near)));
  Real r = near + more, lost = more - (r - near);
  llvm::Value* negative = b.CreateXor(below, b.CreateICmpSLT(bits, b.getInt64(0)));
  llvm::Value* whole_quadrant = b.CreateTrunc(quadrant, b.getInt64Ty());
  Mask mask{&b, negative};
  llvm::Value* signed_quadrant =
      b.CreateSelect(b.CreateICmpSLT(bits, b.getInt64(0)), b.CreateNeg(whole_quadrant), whole_quadrant);
  llvm::Value* results[] = {select(mask, -r, r).value, select(mask, -lost, lost).value, signed_quadrant};
  b.CreateAggregateRet(results, 3);
}

llvm::Function* helper(llvm::Module& module) {
  constexpr const char* name = "tap.reduce_huge";
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* real = llvm::Type::getDoubleTy(context);
  auto* result = llvm::StructType::get(context, {real, real, llvm::Type::getInt64Ty(context)});
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, {real}, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  for (auto attribute :
       {llvm::Attribute::NoInline, llvm::Attribute::Cold, llvm::Attribute::WillReturn, llvm::Attribute::NoUnwind})
    function->addFnAttr(attribute);
  function->setDoesNotAccessMemory();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  emit_body(b, module, function->getArg(0));
  return function;
}

}  // namespace

QuarterTurns reduce_huge(Real x) {
  auto& b = *x.b;
  llvm::Function* function = helper(*b.GetInsertBlock()->getModule());
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x.type());
  unsigned lanes = vector ? vector->getNumElements() : 1;
  QuarterTurns all{x.number(0), x.number(0), x.number(0).bits()};
  auto put = [&](llvm::Value*& into, llvm::Value* element, unsigned lane) {
    into = vector ? b.CreateInsertElement(into, element, lane) : element;
  };
  for (unsigned lane = 0; lane < lanes; ++lane) {
    llvm::Value* one = vector ? b.CreateExtractElement(x.value, lane) : x.value;
    llvm::Value* parts = b.CreateCall(function, {b.CreateFPExt(one, b.getDoubleTy())});
    Real r{&b, b.CreateExtractValue(parts, 0)}, lost{&b, b.CreateExtractValue(parts, 1)};
    llvm::Value* quadrant = b.CreateExtractValue(parts, 2);
    if (!x.is_double()) {
      Real narrow{&b, b.CreateFPTrunc(r.value, b.getFloatTy())};
      lost = {&b, b.CreateFPTrunc((r - Real{&b, b.CreateFPExt(narrow.value, b.getDoubleTy())}).value, b.getFloatTy())};
      r = narrow;
      quadrant = b.CreateTrunc(quadrant, b.getInt32Ty());
    }
    put(all.r.value, r.value, lane);
    put(all.lost.value, lost.value, lane);
    put(all.quadrant.value, quadrant, lane);
  }
  return all;
}

}  // namespace tap::backend::maths
