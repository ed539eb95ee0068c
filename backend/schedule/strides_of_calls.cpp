#include "backend/schedule/strides_of_calls.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tap::backend {

namespace {

// The last axes that memory of this shape has from end to end.
std::uint32_t whole_axes(const TensorArgument& tensor, const Shape& memory) {
  const Shape& shape = tensor.type.shape;
  if (memory.size() != shape.size()) return 0;
  std::uint32_t count = 0;
  auto stride = static_cast<std::int64_t>(size_of(tensor.type.element));
  for (std::size_t axis = shape.size(); axis-- > 1; ++count) {
    if (memory[axis] != shape[axis] || shape[axis] <= 0 || shape[axis] > longest_known_stride / stride) break;
    stride *= shape[axis];
  }
  return count;
}

}  // namespace

void note_strides_of_calls(std::vector<Kernel>& kernels, const ir::Schedule& schedule) {
  std::vector<std::vector<std::optional<std::uint32_t>>> fewest(kernels.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) fewest[k].resize(kernels[k].operands + kernels[k].results);
  for (const ir::Sequence& sequence : schedule.sequences)
    for (const ir::Batch& batch : sequence)
      for (const ir::ScheduledTask& task : batch) {
        const auto* call = std::get_if<ir::KernelCall>(&task.what);
        for (std::size_t t = 0; call && t < call->buffers.size() && t < fewest[call->kernel].size(); ++t) {
          std::optional<std::uint32_t>& known = fewest[call->kernel][t];
          const std::uint32_t here =
              whole_axes(kernels[call->kernel].tensors[t], schedule.buffers[call->buffers[t].id.index()].box.shape());
          known = std::min(known.value_or(here), here);
        }
      }
  for (std::size_t k = 0; k < kernels.size(); ++k)
    for (std::size_t t = 0; t < fewest[k].size(); ++t)
      kernels[k].tensors[t].whole = std::max(kernels[k].tensors[t].whole, fewest[k][t].value_or(0));
}

}  // namespace tap::backend
