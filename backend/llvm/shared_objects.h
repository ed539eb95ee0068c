// Processes of one node compile a kernel once: one of those that need it, which sends the object to the others. So each
// compiles a share, and all have theirs sooner.
//
//   SharedObjects shared(messages, rank, {4, 5, 6, 7});
//   std::vector<Object> objects = compiler.find(kernels);       from the cache, or only a key
//   compiler.complete(kernels, shared.own_share(objects), objects);
//   … the compiled ones are tested …
//   shared.exchange(objects);                                   all have bytes
//
// Kernels are equal if their keys are (object_compiler.h), which include the processor and the build of tapc. All
// processes do these steps at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/llvm/digest.h"
#include "backend/llvm/object_compiler.h"
#include "runtime/distribution.h"

namespace tap::backend {

// An object that a process needs, about what it costs to compile, and whether it has it.
struct WantedObject {
  Digest key = {};
  std::uint64_t cost = 1;
  bool is_there = false;
};
// Who gives an object to whom: positions in the list of processes.
struct ObjectRoute {
  Digest key = {};
  std::size_t from = 0;
  std::vector<std::size_t> to = {};
  bool operator==(const ObjectRoute&) const = default;
};
// One route for each object that any process lacks, the most expensive ones first: from a process that has it, else from
// that of those that need it whose share costs least until then. Pre: no process lists a key twice.
std::vector<ObjectRoute> routes_of(const std::vector<std::vector<WantedObject>>& by_process);

class SharedObjects {
 public:
  // `processes`: those of the node, in order, with `self`.
  SharedObjects(const executor::Messages& messages, std::int64_t self, std::vector<std::int64_t> processes);

  // Which of the objects without bytes this process compiles.
  std::vector<bool> own_share(const std::vector<Object>& found);
  // Pre: those are compiled. Throws ir::EvaluationError if a process is lost.
  void exchange(std::vector<Object>& objects) const;

 private:
  std::vector<std::vector<WantedObject>> all_wanted(const std::vector<WantedObject>& own) const;

  executor::Messages messages_;
  std::vector<std::int64_t> processes_;
  std::size_t self_ = 0;  // its position
  std::vector<ObjectRoute> routes_ = {};
};

}  // namespace tap::backend
