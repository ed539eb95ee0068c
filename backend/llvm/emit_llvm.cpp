// A kernel as an LLVM function: its arguments, the part of the box that a call computes, tensors and accumulators;
// then its statements (emit_statements.h). Accumulators are stack slots, which LLVM turns into registers.
#include "backend/llvm/emit_llvm.h"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/llvm/emit_non_temporal.h"
#include "backend/llvm/emit_statements.h"
#include "support/check.h"

namespace tap::backend {

using llvm::Value;

namespace {

class KernelEmitter {
 public:
  KernelEmitter(const Kernel& kernel, const std::string& symbol, llvm::Module& module,
                const llvm::TargetMachine& machine, llvm::DICompileUnit* lines);
  void run();

 private:
  void emit_arguments();
  void emit_tile_range(Value* first_tile, Value* end_tile);
  void emit_tensors(Value* buffers, Value* strides, Value* scratch);
  void emit_scopes();
  void emit_accumulators();
  void note_folded(const std::vector<Statement>& body);
  void begin_lines(const std::string& symbol, llvm::Module& module, llvm::DICompileUnit& unit);

  const Kernel& kernel_;
  llvm::IRBuilder<> b_;
  EmitState s_;
};

KernelEmitter::KernelEmitter(const Kernel& kernel, const std::string& symbol, llvm::Module& module,
                             const llvm::TargetMachine& machine, llvm::DICompileUnit* lines)
    : kernel_(kernel), b_(module.getContext()), s_{kernel, b_} {
  s_.stores_under_masks = stores_under_masks(machine);
  s_.non_temporal_stores = machine.getTargetTriple().isX86();
  llvm::Type* pointer = llvm::PointerType::getUnqual(module.getContext());
  llvm::Type* number = b_.getInt64Ty();
  auto* signature =
      llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer, pointer, pointer, number, number, pointer}, false);
  s_.function = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, symbol, module);
  s_.function->setDoesNotThrow();
  b_.SetInsertPoint(s_.new_block("entry"));
  if (lines) begin_lines(symbol, module, *lines);
}

// Line 0 is the code before the first statement.
void KernelEmitter::begin_lines(const std::string& symbol, llvm::Module& module, llvm::DICompileUnit& unit) {
  llvm::DIBuilder builder(module, true, &unit);
  auto* type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  llvm::DISubprogram* function =
      builder.createFunction(&unit, symbol, symbol, unit.getFile(), 0, type, 0, llvm::DINode::FlagZero,
                             llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagLocalToUnit);
  builder.finalizeSubprogram(function);
  s_.function->setSubprogram(function);
  s_.lines.emplace().function = function;
  s_.lines->number(kernel_.body, 1);
  b_.SetCurrentDebugLocation(llvm::DILocation::get(b_.getContext(), 0, 0, function));
}

void KernelEmitter::run() {
  for (const SectionDims& section : kernel_.sections)
    TAP_CHECK(section.at.size() <= max_index_dims, "an index space has more dims than a kernel can report on");
  s_.facts.resize(kernel_.exprs.size());
  s_.trips.assign(kernel_.variables.size(), 0);
  s_.versions.assign(kernel_.variables.size(), 0);
  emit_arguments();
  emit_scopes();
  emit_accumulators();
  note_folded(kernel_.body);
  emit_statements(s_, kernel_.body);
  order_non_temporal_stores(s_);
  b_.CreateRet(b_.getInt32(0));
}

void KernelEmitter::emit_arguments() {
  auto argument = [&](unsigned n) { return s_.function->getArg(n); };
  s_.error = argument(6);
  s_.variables.assign(kernel_.variables.size(), nullptr);
  for (std::size_t v = 0; v < 2 * kernel_.dims; ++v)
    s_.variables[v] =
        b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), argument(0), v), kernel_.variables[v]);
  if (kernel_.tile_dim) emit_tile_range(argument(4), argument(5));
  emit_tensors(argument(1), argument(2), argument(3));
}

// Reduces the box to the tiles that this call computes.
void KernelEmitter::emit_tile_range(Value* first_tile, Value* end_tile) {
  Value*& lo = s_.variables[kernel_.lo(*kernel_.tile_dim)];
  Value*& hi = s_.variables[kernel_.hi(*kernel_.tile_dim)];
  auto from_lo = [&](Value* tile) { return b_.CreateNSWAdd(lo, b_.CreateNSWMul(tile, b_.getInt64(kernel_.grain))); };
  hi = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, hi, from_lo(end_tile));
  lo = from_lo(first_tile);
}

void KernelEmitter::emit_tensors(Value* buffers, Value* strides, Value* scratch) {
  std::size_t next = 0;
  for (std::uint32_t t = 0; t < kernel_.tensors.size(); ++t) {
    const TensorArgument& tensor = kernel_.tensors[t];
    s_.strides.emplace_back();
    if (tensor.local) {
      s_.bases.push_back(b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch, scratch_offset(kernel_, t)));
      for (std::int64_t stride : row_major_strides(tensor.local->extents))
        s_.strides.back().push_back(b_.getInt64(static_cast<std::uint64_t>(stride)));
      continue;
    }
    s_.bases.push_back(b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), buffers, t)));
    std::size_t rank = tensor.type.shape.size();
    const std::vector<std::int64_t> known = row_major_strides(tensor.type.shape);
    for (std::size_t axis = 0; axis < rank; ++axis, ++next) {
      Value* stride = b_.getInt64(static_cast<std::uint64_t>(known[axis]));
      if (axis + 1 + tensor.whole < rank)
        stride = b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), strides, next));
      s_.strides.back().push_back(stride);
    }
  }
}

// Results alias neither operands nor each other, so the accesses to each tensor, or to the local ones that have the same
// memory, form their own scope.
void KernelEmitter::emit_scopes() {
  llvm::MDBuilder builder(b_.getContext());
  llvm::MDNode* domain = builder.createAnonymousAliasScopeDomain();
  std::vector<llvm::Metadata*> scopes;
  for (std::size_t t = 0; t < kernel_.tensors.size(); ++t) scopes.push_back(builder.createAnonymousAliasScope(domain));
  for (std::size_t t = 0; t < kernel_.tensors.size(); ++t) {
    std::vector<llvm::Metadata*> others;
    const std::uint32_t own = memory_of(kernel_, static_cast<std::uint32_t>(t));
    for (std::size_t o = 0; o < scopes.size(); ++o)
      if (o != own) others.push_back(scopes[o]);
    s_.scope.push_back(llvm::MDNode::get(b_.getContext(), {scopes[own]}));
    s_.noalias_scopes.push_back(llvm::MDNode::get(b_.getContext(), others));
  }
}

void KernelEmitter::emit_accumulators() {
  for (const Accumulator& a : kernel_.accumulators) {
    llvm::Type* type = register_type(b_.getContext(), a.type);
    if (a.lanes > 1) type = llvm::FixedVectorType::get(type, a.lanes);
    s_.accumulators.emplace_back();
    for (std::uint32_t k = 0; k < a.count; ++k) s_.accumulators.back().push_back(b_.CreateAlloca(type));
  }
  s_.folded.assign(kernel_.accumulators.size(), false);
}

void KernelEmitter::note_folded(const std::vector<Statement>& body) {
  for (const Statement& statement : body) {
    if (const auto* fold = std::get_if<FoldLanes>(&statement.node))
      for (std::uint32_t slot : fold->from) s_.folded[kernel_.slots[slot].accumulator] = true;
    if (const auto* loop = std::get_if<For>(&statement.node)) note_folded(loop->body);
    if (const auto* guard = std::get_if<Guard>(&statement.node)) note_folded(guard->body);
    if (const auto* section = std::get_if<Section>(&statement.node)) note_folded(section->body);
  }
}

}  // namespace

bool stores_under_masks(const llvm::TargetMachine& machine) {
  // Other targets do not know the feature's name.
  return machine.getTargetTriple().isX86() && machine.getMCSubtargetInfo()->checkFeatures("+avx512bw,+avx512vl");
}

void emit(const Kernel& kernel, const std::string& symbol, llvm::Module& module, const llvm::TargetMachine& machine,
          llvm::DICompileUnit* lines) {
  KernelEmitter(kernel, symbol, module, machine, lines).run();
}

}  // namespace tap::backend
