#include "cost/work/kernel_work.h"

#include "cost/work/instruction_walk.h"
#include "cost/work/traffic_walk.h"

namespace tap::cost {

KernelWork work_of(const backend::Kernel& kernel, const ir::Box& box, const Device& device) {
  KernelWork work;
  if (box.empty()) {
    const std::size_t caches = device.levels.empty() ? 0 : device.levels.size() - 1;
    work.tensors.assign(kernel.tensors.size(),
                        {.missed = std::vector<double>(caches, 0), .starts = std::vector<double>(caches, 0)});
    return work;
  }
  count_instructions(kernel, box, device, work);
  count_traffic(kernel, box, device, work);
  return work;
}

}  // namespace tap::cost
