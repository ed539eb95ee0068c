#include "backend/lower/known_strides.h"

#include <algorithm>

#include "backend/lower/lower_group.h"
#include "backend/tiles/register_tile.h"
#include "ir/block_graph.h"

namespace tap::backend {

using namespace ir;

namespace {

// The self-check places a few rows of each tensor in memory with these distances.
constexpr std::int64_t longest_stride = std::int64_t{1} << 18;  // bytes

// The dims of which every call has the whole range.
std::vector<bool> whole_dims(const Operator& op) {
  const Extents extents = op.region() ? extents_of_group(op) : extents_of(op);
  std::vector<bool> whole;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    whole.push_back(op.dims[d].role != DimRole::counter && extents.exact[d] &&
                    extents.sizes[d] == op.dims[d].range.size());
  return whole;
}

// The trailing axes that every call touches from end to end, so that whatever memory a call is given has all of them.
std::uint32_t whole_axes(const std::vector<Access>& accesses, std::uint32_t number, const TensorType& type,
                         const Box& touched, const std::vector<bool>& whole) {
  auto moves = [&](std::size_t axis) {
    return std::ranges::any_of(accesses, [&](const Access& access) {
      if (access.tensor != number) return false;
      const auto& coefficients = access.projection.start.rows[axis].coefficients;
      for (std::size_t d = 0; d < coefficients.size(); ++d)
        if (coefficients[d] != 0 && !whole[d]) return true;
      return false;
    });
  };
  if (element_count(type.shape) == 0) return 0;
  std::uint32_t count = 0;
  auto stride = static_cast<std::int64_t>(size_of(type.element));
  for (std::size_t axis = type.shape.size(); axis-- > 1; ++count) {
    if (type.shape[axis] > longest_stride / stride) break;
    stride *= type.shape[axis];
    if (moves(axis) || touched.dims[axis] != Range{0, type.shape[axis]}) break;
  }
  return count;
}

}  // namespace

void mark_known_strides(Kernel& kernel, const Operator& op, const LowerOptions& options) {
  if (options.any_box) return;
  const std::vector<bool> whole = whole_dims(op);
  Box box = op.box();
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (!whole[d]) box.dims[d].hi = std::min(box.dims[d].hi, box.dims[d].lo + 1);
  if (box.empty()) return;
  auto is_prepared = [&](std::uint32_t k) {
    return options.prepared && std::ranges::count(*options.prepared, k, &PreparedOperand::operand) > 0;
  };
  for (std::uint32_t k = 0; k < op.operands.size(); ++k)
    if (!is_prepared(k))
      kernel.tensors[k].whole = whole_axes(op.reads, k, op.operands[k], read_region(op, k, box), whole);
  for (std::uint32_t k = 0; k < op.results.size(); ++k)
    kernel.tensors[kernel.operands + k].whole =
        whole_axes(op.writes, k, op.results[k], written_region(op, k, box), whole);
}

}  // namespace tap::backend
