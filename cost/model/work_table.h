// The work of kernels on boxes, computed once per pair. An operation that a plan does not change keeps its kernels
// and boxes, so after an edit only the changed part is computed.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "cost/work/kernel_work.h"

namespace tap::cost {

class WorkTable {
 public:
  // Pre: always for the same device.
  const KernelWork& of(const backend::Kernel& kernel, const ir::Box& box, const Device& device);
  // Equal kernels have one number.
  std::size_t number_of(const backend::Kernel& kernel);
  const KernelWork& of(std::size_t number, const backend::Kernel& kernel, const ir::Box& box, const Device& device);
  std::size_t evaluations() const { return evaluations_; }  // how many were computed

 private:
  std::unordered_map<std::string, std::size_t> numbers_;  // by canonical text
  std::map<std::pair<std::size_t, std::vector<std::int64_t>>, KernelWork> known_;
  std::size_t evaluations_ = 0;
};

}  // namespace tap::cost
