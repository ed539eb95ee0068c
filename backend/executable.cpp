// Compiling: each distinct operator that the block graphs apply becomes a kernel.
#include "backend/executable.h"

#include <algorithm>

#include "backend/compiled_program.h"
#include "backend/group_tiles.h"
#include "backend/lowered.h"

namespace tap::backend {

using namespace ir;

namespace {

// Numbers the distinct operators; equal structures share a kernel.
class Kernels {
 public:
  explicit Kernels(CompiledProgram& compiled) : compiled_(compiled) {}

  std::size_t of(const Operator& op) {
    std::size_t hash = structural_hash(op);
    auto [begin, end] = seen_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (equal_structure(*it->second.first, op)) return it->second.second;
    seen_.emplace(hash, std::pair(&op, compiled_.kernels.size()));
    compiled_.kernels.push_back(lowered(compiled_.blocks.program, op));
    return compiled_.kernels.size() - 1;
  }

 private:
  CompiledProgram& compiled_;
  std::unordered_multimap<std::size_t, std::pair<const Operator*, std::size_t>> seen_;
};

void add_group(CompiledProgram& compiled, Kernels& kernels, OperatorId id) {
  const Program& program = compiled.blocks.program;
  const Operator& group = program[id];
  if (!compiled.groups.try_emplace(id, CompiledGroup{tile_points(program, group)}).second) return;
  for (const GroupAnchor& a : group.region()->anchors) {
    if (group.dims[a.dim].role != DimRole::reduction) continue;
    OperatorId inner = program[group.region()->graph].operations[a.operation].op;
    auto [it, fresh] = compiled.streamed.try_emplace(inner);
    if (!fresh) continue;
    StreamedKernels& its = it->second;
    its.operators = streamed(program, program[inner]);
    its.partial = kernels.of(its.operators.partial);
    its.combine = kernels.of(its.operators.combine);
    its.finish = kernels.of(its.operators.finish);
  }
}

void lower_operators(CompiledProgram& compiled) {
  const Program& program = compiled.blocks.program;
  compiled.kernel_of.resize(program.operators.size());
  Kernels kernels(compiled);
  for (const Graph& graph : program.graphs)
    for (const Operation& operation : graph.operations) {
      const Operator& op = program[operation.op];
      auto& kernel = compiled.kernel_of[operation.op.index()];
      if ((op.map() || op.reduce()) && !kernel) kernel = kernels.of(op);
      if (op.region() && op.region()->kind == RegionKind::group) add_group(compiled, kernels, operation.op);
    }
}

CompiledProgram lower(BlockProgram program) {
  CompiledProgram compiled;
  compiled.blocks = std::move(program);
  lower_operators(compiled);
  return compiled;
}
}  // namespace

CompiledProgram compile(BlockProgram program, Jit& jit) {
  CompiledProgram compiled = lower(std::move(program));
  compiled.functions = jit.compile(compiled.kernels);
  return compiled;
}

struct Executable::Impl {
  ExecuteOptions options;
  Jit jit;
  ThreadPool pool;
  CompiledProgram compiled;
  std::size_t inner_bytes = 0;
  Impl(BlockProgram program, const ExecuteOptions& o)
      : options(o),
        jit({.cache = o.cache}),
        pool(std::max<std::size_t>(o.threads, 1)),
        compiled(compile(std::move(program), jit)) {}
};

Executable::Executable(BlockProgram program, const ExecuteOptions& options)
    : impl_(std::make_unique<Impl>(std::move(program), options)) {}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;

std::vector<Tensor> Executable::run(const std::vector<Tensor>& inputs) {
  RunResult result = backend::run(impl_->compiled, inputs, impl_->options, impl_->pool);
  impl_->inner_bytes = result.inner_bytes;
  return std::move(result.outputs);
}

std::size_t Executable::inner_bytes() const { return impl_->inner_bytes; }

std::size_t Executable::kernel_count() const { return impl_->compiled.kernels.size(); }

std::size_t Executable::cached_count() const { return impl_->jit.cached(); }

std::string Executable::print_kernels() const {
  std::string out;
  for (const Kernel& kernel : impl_->compiled.kernels) out += print(kernel);
  return out;
}

std::vector<Kernel> kernels_of(BlockProgram program) { return lower(std::move(program)).kernels; }

}  // namespace tap::backend
