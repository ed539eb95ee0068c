#include "cost/model/work_table.h"

#include "backend/loops/loops_text.h"

namespace tap::cost {

std::size_t WorkTable::number_of(const backend::Kernel& kernel) {
  return numbers_.try_emplace(backend::canonical(kernel), numbers_.size()).first->second;
}

const KernelWork& WorkTable::of(const backend::Kernel& kernel, const ir::Box& box, const Device& device) {
  return of(number_of(kernel), kernel, box, device);
}

const KernelWork& WorkTable::of(std::size_t number, const backend::Kernel& kernel, const ir::Box& box,
                                const Device& device) {
  std::vector<std::int64_t> ends;
  for (const ir::Range& range : box.dims) {
    ends.push_back(range.lo);
    ends.push_back(range.hi);
  }
  auto [known, fresh] = known_.try_emplace({number, std::move(ends)});
  if (fresh) {
    ++evaluations_;
    known->second = work_of(kernel, box, device);
  }
  return known->second;
}

}  // namespace tap::cost
