#include "cost/work/kernel_work.h"

#include "cost/work/instruction_walk.h"
#include "cost/work/traffic_walk.h"

namespace tap::cost {

Work work_of(const backend::Kernel& kernel, const ir::Box& box, const Device& device) {
  Work work;
  if (box.empty()) {
    work.tensors.resize(kernel.tensors.size());
    return work;
  }
  count_instructions(kernel, box, device, work);
  work.tensors = traffic_of(kernel, box, device);
  return work;
}

}  // namespace tap::cost
