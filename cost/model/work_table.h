// The work of kernels on boxes, computed once per pair. An operation that a plan does not change keeps its kernels
// and boxes, so after an edit only the changed part is computed. Several threads may use a table at the same time.
#pragma once

#include <cstddef>
#include <memory>

#include "cost/work/kernel_work.h"

namespace tap::cost {

class WorkTable {
 public:
  WorkTable();
  ~WorkTable();
  WorkTable(WorkTable&&) noexcept;
  WorkTable& operator=(WorkTable&&) noexcept;

  // Pre: always for the same device.
  const KernelWork& of(const backend::Kernel& kernel, const ir::Box& box, const Device& device);
  // Equal kernels have one number.
  std::size_t number_of(const backend::Kernel& kernel);
  const KernelWork& of(std::size_t number, const backend::Kernel& kernel, const ir::Box& box, const Device& device);
  std::size_t evaluations() const;  // how many were computed

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tap::cost
