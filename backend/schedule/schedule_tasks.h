// Builds the tasks of a schedule: in batches of independent tasks, with the lifetime of each buffer. Bodies of
// iterates are separate sequences on the same timeline.
#pragma once

#include <map>
#include <unordered_map>

#include "backend/schedule/arrange_batches.h"
#include "backend/schedule/schedule.h"

namespace tap::backend {

// Into which threads divide a call. A few parts are as many as two, four or eight threads can share equally.
std::int64_t parts_that_pay(const Kernel& kernel, std::int64_t tiles);

class ScheduleTasks {
 public:
  explicit ScheduleTasks(Schedule& schedule) : schedule_(schedule) { new_sequence(); }

  Buffer& at(BufferId id) { return schedule_.buffers[id.index()]; }
  const Buffer& at(BufferId id) const { return schedule_.buffers[id.index()]; }
  // Only the boxes' steps of `row` are used.
  BufferId new_buffer(std::string name, ElementType element, ir::Box box, const ir::Row& row = {});

  // `order`: the number of its operation. Tasks of one operation are independent.
  void add(ScheduledTask task, std::size_t order, const std::vector<BufferId>& reads,
           const std::vector<BufferId>& writes);
  void copy(CopyBox copy, std::size_t order);
  void close();  // starts a new batch: later tasks of the same operation depend on this one

  // The constant, packed for a kernel by a task that runs before all others. Several kernels may share it.
  BufferId prepared(BufferId constant, const Preparation& how, const Kernel& kernel, std::size_t operations);
  void end_preparation();

  struct Body {
    std::size_t sequence = 0, outer = 0;
    std::size_t buffers_before = 0;
    std::int64_t begin = 0;
  };
  Body begin_body();
  // `loop` is the task that runs the body. Buffers from outside are in use until the last trip.
  void end_body(const Body& body, Iteration loop);
  // Exchanged buffers swap memory, so both are in use while one of them is.
  void in_use_together(const std::vector<std::pair<BufferId, BufferId>>& exchanged);
  std::vector<Lifetime>& lifetimes() { return lifetimes_; }
  const TaskFacts& facts() const { return facts_; }

 private:
  // The buffers that the tasks of the open batch read and write, and by which operation. Tasks of one operation are
  // independent.
  class Open {
   public:
    bool fits(std::size_t order, const std::vector<BufferId>& reads, const std::vector<BufferId>& writes) const;
    void add(std::size_t order, const std::vector<BufferId>& reads, const std::vector<BufferId>& writes);

   private:
    struct User {
      std::size_t order = 0;
      bool several = false;  // also used by other operations
    };
    using Users = std::unordered_map<BufferId, User>;
    static void note(Users& users, BufferId id, std::size_t order);
    Users read_, written_;
  };

  void use(BufferId id);
  void end_batch();
  void new_sequence();

  Lifetime& of(BufferId id) { return lifetimes_[id.index()]; }

  Schedule& schedule_;
  std::vector<Lifetime> lifetimes_;  // by buffer
  std::size_t sequence_ = 0;         // the open one
  Batch batch_;
  std::vector<std::uint32_t> steps_;  // of its tasks
  std::uint32_t step_ = 0;
  std::size_t latest_order_ = SIZE_MAX;
  TaskFacts facts_;
  Open open_;
  std::int64_t time_ = 0;                                          // number of the batch, counted through all sequences
  std::map<std::pair<BufferId, std::size_t>, BufferId> prepared_;  // by constant and packing kernel
  Batch preparation_;
};

}  // namespace tap::backend
