// The time of an operation on one device's part of its index space, from the loops of its kernel.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "backend/compiled_program.h"
#include "cost/model/model.h"

namespace tap::cost {

// Searches of one program over several meshes may share one, at the same time.
class OperationTimes {
 public:
  // Refers to the program. Pre: it has no splits and no calls.
  OperationTimes(const ir::Program& program, const Cluster& cluster, std::int64_t threads, bool strict_fp);

  struct Part {
    std::vector<std::int64_t> parts = {};            // dim d has 1 / parts[d] of its points
    std::vector<Shape> operands = {}, results = {};  // what a device has of the tensors; empty: all
    auto operator<=>(const Part&) const = default;
  };
  // In seconds; 0 for operations without a kernel.
  double of(ir::GraphId graph, ir::OperationId operation, const Part& part);
  std::size_t priced() const;

 private:
  mutable std::mutex mutex_;  // of what is known, and of kernels
  const ir::Program& program_;
  Model model_;
  bool strict_fp_;
  backend::CompiledProgram lowered_;
  std::vector<std::map<ir::OperationId, ir::Box>> boxes_;  // by graph
  double bytes_of_others_ = 0;                             // of all values
  std::map<std::pair<ir::OperatorId, Part>, double> known_;
  std::map<std::pair<ir::OperatorId, Shape>, backend::Kernel> kernels_;  // by extents

  // Without the lock, so that several are found at the same time.
  double computed(ir::OperatorId id, const ir::Box& whole, const Part& part);
  backend::Kernel kernel_for(ir::OperatorId id, const ir::Box& box);
};

}  // namespace tap::cost
