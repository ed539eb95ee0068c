// How far the tiles of a batch depend on tiles of the batch before: threads need not wait for tiles that are further away
// (runtime/executor_walk.h).
//
//   u[i] = v[i - 1] + v[i + 1] in 96 tiles, after a batch that writes v in 96 tiles      reach 1
//   t[j] = sum[i] v[i] after it                                                          none: a tile needs all of v
#pragma once

#include <cstdint>
#include <vector>

#include "backend/loops/loops.h"
#include "ir/schedule.h"

namespace tap::backend {

class Reach {
 public:
  static constexpr std::int64_t all = -1;  // or farther than is worth knowing
  // Refers to both. Pre: no rows of buffers.
  Reach(const ir::Schedule& schedule, const std::vector<Kernel>& kernels);

  // A tile of this batch of a sequence may run before those tiles of the batch before whose numbers differ from its own by more
  // than this. Before the first batch of an iterate's body is the last one, in the trip before.
  std::int64_t of(std::size_t sequence, std::size_t batch) const;

 private:
  struct Touched;
  using Exchanged = std::vector<ir::ExchangedState>;  // between the two batches
  std::int64_t of(const ir::Batch& before, const ir::Batch& batch, const Exchanged& exchanged) const;
  bool may_fail(const ir::Batch& batch) const;
  bool add(std::vector<Touched>& to, const ir::Batch& batch, const Exchanged& exchanged) const;
  void add(std::vector<Touched>& to, std::int64_t tile, std::int64_t tiles, const ir::KernelCall& call) const;
  Touched part(const ir::KernelCall& call, std::size_t argument, std::int64_t tiles) const;
  void place(Touched& one, ir::BufferId id, const Exchanged& exchanged) const;

  const ir::Schedule& schedule_;
  const std::vector<Kernel>& kernels_;
  std::vector<bool> may_fail_ = {};  // by kernel
};

}  // namespace tap::backend
