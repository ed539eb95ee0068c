// Calls outside kernels from the shared libraries that are given on the command line.
//
//   void smooth_rows(const int64_t* box, const int64_t* extents, const tap_region* regions);
//
// One call per application, on its box; the extents are those of the whole index space. Each region is the hull of
// the cells that the points of the box read or write; cells of a read outside its tensor are included and contain the
// fill.
//
// Source files are not trusted: a kernel name may refer only to a function that a given library defines itself, not
// to one that it is linked with (`kernel "abort"`).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "runtime/kernel_abi.h"
#include "support/tensor.h"

namespace tap::driver {

class OutsideKernels {
 public:
  // Finds the kernels that main reaches. Throws Failure if a library cannot be loaded, or no library has one of the
  // kernels.
  OutsideKernels(const ir::Program& program, const std::vector<std::string>& libraries);
  // The kernels of a compiled program.
  OutsideKernels(const std::vector<std::string>& symbols, const std::vector<std::string>& libraries);
  ~OutsideKernels();
  OutsideKernels(const OutsideKernels&) = delete;
  OutsideKernels& operator=(const OutsideKernels&) = delete;

  // On the whole index space, block by block if it is split.
  void call(const ir::Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results) const;
  OutsideFunction function(const std::string& symbol) const;

 private:
  void call_on(const ir::Box& box, const ir::Operator& op, const std::vector<Tensor>& operands,
               std::vector<Tensor>& results) const;
  void load(const std::string& path);
  void find(const std::string& symbol, const std::string& what, const std::vector<std::string>& libraries);
  void find(const ir::Program& program, ir::GraphId graph, const std::vector<std::string>& libraries);

  std::vector<void*> handles_;
  std::map<std::string, void*> functions_;  // by symbol
  std::set<ir::GraphId> searched_;
};

}  // namespace tap::driver
