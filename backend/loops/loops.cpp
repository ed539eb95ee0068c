// Equality of kernels, and queries for their callers.
#include "backend/loops/loops.h"

#include <algorithm>
#include <numeric>

#include "support/alignment.h"

namespace tap::backend {

bool For::operator==(const For& o) const {
  return variable == o.variable && lower == o.lower && upper == o.upper && descending == o.descending &&
         body == o.body && kind == o.kind && step == o.step && count == o.count;
}
bool Guard::operator==(const Guard& o) const { return conditions == o.conditions && cell == o.cell && body == o.body; }
bool Section::operator==(const Section& o) const { return section == o.section && body == o.body; }
bool Statement::operator==(const Statement& o) const { return node == o.node; }
bool Kernel::operator==(const Kernel& o) const {
  return tensors == o.tensors && operands == o.operands && results == o.results && dims == o.dims &&
         exact_arithmetic == o.exact_arithmetic && tile_dim == o.tile_dim && grain == o.grain && worth == o.worth &&
         variables == o.variables && accumulators == o.accumulators && slots == o.slots && exprs == o.exprs &&
         loads == o.loads && sections == o.sections && body == o.body;
}

bool has_known_strides(const TensorArgument& tensor, const Shape& memory) {
  const std::size_t rank = tensor.type.shape.size();
  if (tensor.whole == 0 || element_count(memory) == 0) return true;
  if (memory.size() != rank) return false;
  const std::vector<std::int64_t> real = row_major_strides(memory), known = row_major_strides(tensor.type.shape);
  for (std::size_t axis = rank - 1 - tensor.whole; axis < rank; ++axis)
    if (tensor.type.shape[axis] > 1 && real[axis] != known[axis]) return false;
  return true;
}

std::vector<ir::CellId> needs(const Kernel& kernel, ir::CellId id) {
  const ir::CellNode& node = kernel.exprs[id];
  std::vector<ir::CellId> all = node.args;
  if (node.op != ir::CellOp::read) return all;
  const Load& load = kernel.loads[node.attribute];
  for (const Coordinate& c : load.at)
    if (c.data) all.push_back(*c.data);
  if (load.fill) all.push_back(*load.fill);
  return all;
}

std::int64_t tile_count(const Kernel& kernel, const ir::Box& box) {
  if (!kernel.tile_dim) return 1;
  return (box.dims[*kernel.tile_dim].size() + kernel.grain - 1) / kernel.grain;
}

std::uint32_t memory_of(const Kernel& kernel, std::uint32_t tensor) {
  const std::optional<Local>& local = kernel.tensors[tensor].local;
  return local ? local->reuses.value_or(tensor) : tensor;
}

namespace {

// By local tensor: the bytes of its own memory, enough for every tensor that reuses it.
std::vector<std::size_t> memory_bytes(const Kernel& kernel) {
  std::vector<std::size_t> bytes(kernel.tensors.size(), 0);
  for (std::uint32_t t = 0; t < bytes.size(); ++t) {
    const TensorArgument& tensor = kernel.tensors[t];
    if (!tensor.local) continue;
    const std::size_t needed =
        static_cast<std::size_t>(element_count(tensor.local->extents)) * size_of(tensor.type.element);
    std::size_t& own = bytes[memory_of(kernel, t)];
    own = std::max(own, (needed + buffer_alignment - 1) / buffer_alignment * buffer_alignment);
  }
  return bytes;
}

}  // namespace

bool is_first_time(const Kernel& kernel, const Guard& guard) {
  if (!guard.cell || kernel.exprs[*guard.cell].op != ir::CellOp::logical_not) return false;
  const ir::CellNode& read = kernel.exprs[kernel.exprs[*guard.cell].args[0]];
  if (read.op != ir::CellOp::read) return false;
  const std::uint32_t tensor = kernel.loads[read.attribute].tensor;
  return kernel.tensors[tensor].local && std::ranges::any_of(guard.body, [&](const Statement& statement) {
           const auto* store = std::get_if<Store>(&statement.node);
           return store && store->targets[0].tensor == tensor;
         });
}

std::size_t scratch_offset(const Kernel& kernel, std::uint32_t tensor) {
  const std::vector<std::size_t> bytes = memory_bytes(kernel);
  return std::accumulate(bytes.begin(), bytes.begin() + memory_of(kernel, tensor), std::size_t{0});
}
std::size_t scratch_bytes(const Kernel& kernel) {
  constexpr std::size_t beyond = 1024;  // idle lanes of a tile's vectors may be loaded, too
  const std::vector<std::size_t> bytes = memory_bytes(kernel);
  const std::size_t tensors = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
  return tensors == 0 ? 0 : tensors + beyond;
}

}  // namespace tap::backend
