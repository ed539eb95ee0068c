#include "cost/work/kernel_work.h"

#include "cost/work/instruction_walk.h"
#include "cost/work/traffic_walk.h"

namespace tap::cost {

KernelWork work_of(const backend::Kernel& kernel, const ir::Box& box, const Device& device) {
  KernelWork work;
  count_instructions(kernel, box, device, work);
  count_traffic(kernel, box, device, work);
  return work;
}

}  // namespace tap::cost
