#include "backend/llvm/instrument.h"

#if defined(__SANITIZE_THREAD__)
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <vector>
#elif defined(__SANITIZE_ADDRESS__)
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>

#include "backend/llvm/passes/run_passes.h"
#endif

namespace tap::backend {
namespace {

#if defined(__SANITIZE_THREAD__)

// An accessed memory range.
struct Touched {
  llvm::Value* address;
  llvm::Value* bytes;
  bool written;
};

// From the first to the last active lane: masks of tails are contiguous.
Touched masked(llvm::IRBuilder<>& b, llvm::Value* address, llvm::Value* mask, llvm::Type* vector, bool written) {
  auto* type = llvm::cast<llvm::FixedVectorType>(vector);
  std::uint64_t size = type->getScalarSizeInBits() / 8, lanes = type->getNumElements();
  auto* bits = b.CreateZExt(b.CreateBitCast(mask, b.getIntNTy(static_cast<unsigned>(lanes))), b.getInt64Ty());
  auto* first = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b.getFalse());
  auto* end = b.CreateSub(b.getInt64(64), b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, b.getFalse()));
  auto* count = b.CreateSelect(b.CreateIsNull(bits), b.getInt64(0), b.CreateSub(end, first));
  auto* from = b.CreateSelect(b.CreateIsNull(bits), b.getInt64(0), b.CreateMul(first, b.getInt64(size)));
  return {b.CreateGEP(b.getInt8Ty(), address, from), b.CreateMul(count, b.getInt64(size)), written};
}

void touched_by(llvm::Instruction& at, llvm::IRBuilder<>& b, std::vector<Touched>& found) {
  const llvm::DataLayout& layout = at.getModule()->getDataLayout();
  auto bytes = [&](llvm::Type* type) { return b.getInt64(layout.getTypeStoreSize(type).getFixedValue()); };
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
    found.push_back({load->getPointerOperand(), bytes(load->getType()), false});
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
    found.push_back({store->getPointerOperand(), bytes(store->getValueOperand()->getType()), true});
  } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&at)) {
    found.push_back({copy->getRawSource(), copy->getLength(), false});
    found.push_back({copy->getRawDest(), copy->getLength(), true});
  } else if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&at)) {
    found.push_back({set->getRawDest(), set->getLength(), true});
  } else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&at)) {
    unsigned last = call->arg_size() - 1;
    if (call->getIntrinsicID() == llvm::Intrinsic::masked_load)
      found.push_back(masked(b, call->getArgOperand(0), call->getArgOperand(last - 1), call->getType(), false));
    if (call->getIntrinsicID() == llvm::Intrinsic::masked_store)
      found.push_back(
          masked(b, call->getArgOperand(1), call->getArgOperand(last), call->getArgOperand(0)->getType(), true));
  }
}

// LLVM's own pass skips vectors of more than 16 bytes, and calls functions that another compiler's runtime lacks.
void instrument_for_thread_sanitizer(llvm::Module& module) {
  llvm::IRBuilder<> b(module.getContext());
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()}, false);
  auto read = module.getOrInsertFunction("__tsan_read_range", type);
  auto write = module.getOrInsertFunction("__tsan_write_range", type);
  for (llvm::Function& function : module) {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& i : llvm::instructions(function)) all.push_back(&i);
    for (llvm::Instruction* i : all) {
      b.SetInsertPoint(i);
      std::vector<Touched> found;
      touched_by(*i, b, found);
      for (const Touched& t : found)
        if (!llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(t.address)))
          b.CreateCall(t.written ? write : read, {t.address, t.bytes});
    }
  }
}

#elif defined(__SANITIZE_ADDRESS__)

void check_addresses(llvm::Module& module, llvm::TargetMachine& machine) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) function.addFnAttr(llvm::Attribute::SanitizeAddress);
  run_passes(module, machine, [](llvm::PassBuilder&, ModulePasses& passes) {
    // The module needs no registration.
    passes.addPass(llvm::AddressSanitizerPass({}, false, false, llvm::AsanDtorKind::None, llvm::AsanCtorKind::None));
  });
}

#endif

}  // namespace

bool instruments() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

void instrument([[maybe_unused]] llvm::Module& module, [[maybe_unused]] llvm::TargetMachine& machine) {
#if defined(__SANITIZE_THREAD__)
  instrument_for_thread_sanitizer(module);
#elif defined(__SANITIZE_ADDRESS__)
  check_addresses(module, machine);
#endif
}

}  // namespace tap::backend
