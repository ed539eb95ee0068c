#include "backend/llvm/passes/strength_reduction.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <algorithm>
#include <vector>

#include "backend/llvm/passes/run_passes.h"
#include "support/check.h"

namespace tap::backend {
namespace {

// Shifts up to this one are part of an address.
constexpr unsigned greatest_scale = 3;

bool is_product(const llvm::Instruction& i) {
  if (!i.getType()->isIntegerTy()) return false;
  if (i.getOpcode() == llvm::Instruction::Mul) return true;
  const auto* bits = i.getOpcode() == llvm::Instruction::Shl ? llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1))
                                                             : nullptr;
  return bits && bits->getValue().ugt(greatest_scale);
}

bool is_address(const llvm::Instruction& i) {
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
  return address && address->getType()->isPointerTy() && !address->hasAllConstantIndices();
}

// What grows by as much in each iteration.
struct Growing {
  const llvm::SCEV* step;
  std::vector<llvm::WeakTrackingVH> addresses, products;
  std::vector<const llvm::SCEV*> places;  // different addresses
};

std::vector<Growing> growing_in(const llvm::Loop& loop, llvm::ScalarEvolution& values) {
  std::vector<Growing> result;  // in order of appearance
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& i : *block) {
      const bool product = is_product(i);
      if (!product && !is_address(i)) continue;
      const llvm::SCEV* value = values.getSCEV(&i);
      const auto* sum = llvm::dyn_cast<llvm::SCEVAddRecExpr>(value);
      if (!sum || sum->getLoop() != &loop || !sum->isAffine()) continue;
      const llvm::SCEV* step = sum->getStepRecurrence(values);
      auto known = std::ranges::find_if(result, [&](const Growing& g) { return g.step == step; });
      Growing& group = known == result.end() ? result.emplace_back(Growing{step, {}, {}, {}}) : *known;
      (product ? group.products : group.addresses).push_back(&i);
      if (!product && std::ranges::count(group.places, value) == 0) group.places.push_back(value);
    }
  return result;
}

// What is null was needed by an address only.
bool carry(const std::vector<llvm::WeakTrackingVH>& all, llvm::ScalarEvolution& values) {
  llvm::SCEVExpander expander(values, "carried", /*PreserveLCSSA=*/false);
  expander.disableCanonicalMode();  // which would multiply again
  expander.enableLSRMode();
  llvm::SmallVector<llvm::WeakTrackingVH> unused;
  for (llvm::Value* v : all) {
    auto* i = llvm::cast_or_null<llvm::Instruction>(v);
    const llvm::SCEV* value = i ? values.getSCEV(i) : nullptr;
    if (!value || !expander.isSafeToExpand(value)) continue;
    i->replaceAllUsesWith(expander.expandCodeFor(value, i->getType(), i->getIterator()));
    unused.emplace_back(i);
  }
  if (unused.empty()) return false;
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
  return true;
}

struct ReduceStrength : llvm::PassInfoMixin<ReduceStrength> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto& values = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    bool changed = false;
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost() || !loop->isLoopSimplifyForm()) continue;
      const std::vector<Growing> all = growing_in(*loop, values);
      // Of one pointer, carrying the address itself takes fewer registers; several share a sum of indices.
      for (const Growing& group : all)
        if (group.places.size() == 1 && carry(group.addresses, values)) changed = true;
      for (const Growing& group : all)
        if (carry(group.products, values)) changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

}  // namespace

void leave_out_strength_reduction() {
  auto& options = llvm::cl::getRegisteredOptions();
  auto found = options.find("disable-lsr");
  TAP_CHECK(found != options.end(), "LLVM has no option disable-lsr");
  static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(true);
}

void reduce_strength(llvm::Module& module, llvm::TargetMachine& machine) {
  run_passes(module, machine, [](llvm::PassBuilder&, ModulePasses& passes) {
    llvm::FunctionPassManager functions;
    functions.addPass(llvm::LoopSimplifyPass());
    functions.addPass(ReduceStrength());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  });
}

}  // namespace tap::backend
