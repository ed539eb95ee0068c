// The memories of a schedule while its tasks run: the contents of each, who reads and writes it, and which memories
// overlap. The members of a row of memories share one state as long as the same is done to all of them: cells are
// identified by their position in the first member, so that a fact about one member holds for all.
//
//   b0 [0..8] times 64 by (8, 512) after a row of kernels wrote them:     one state, of [0..8]
//   … after a copy to b0#0 from another:                                   two, of members 0..1 and of 1..64
#pragma once

#include <map>

#include "replay/execution.h"

namespace tap::check {

// The members that a row of tasks accesses: each task one of them, several tasks possibly the same.
struct Where {
  ir::BufferId id;
  Box members;                        // by position along the levels of their row
  std::vector<Along> positions = {};  // for the first task and the others, along each of these levels
  std::vector<Along> further = {};    // by dim: the distance of their boxes from the first member's
  bool each_by_one = true;            // no two tasks access the same member
};

struct State {
  Box members;
  Contents contents = {};
  std::size_t read_in = 0, written_in = 0;  // the batch of the last access (reads: only if each member has its own)
  BoxSet read = {};                         // cells, in that batch
  BoxSet cells = {};                        // written in that batch: the cells, and …
  Points points = {};                       // … the points of `by` that wrote them
  const ir::Access* by = nullptr;
  bool dense = true;  // the writes leave no gaps, so `cells` describes them

  void note_read(std::size_t batch, const Box& cells);
};

class Memories {
 public:
  using BufferId = ir::BufferId;
  Memories(const ir::Schedule& schedule, Obligation keeps);

  void begin_batch() { ++batch_; }
  const ir::Buffer& buffer(BufferId id) const { return s_.buffers[id.index()]; }
  Where where(const ir::BufferMember& one, const ir::Row& levels, std::size_t column) const;
  Where where(BufferId id) const;  // all members
  // The cells that the tasks touch of a box that is repeated along the levels, relative to the first member: all of its
  // cells if the tasks touch different ones.
  Box cells_of(const Where& where, const ir::Row& levels, const Moving& box) const;
  // The whole tensor relative to the first member: the cells that all members contain, and those that some do.
  struct Seen {
    Box by_all, by_some;
  };
  Seen seen(BufferId id, const Box& members, const Shape& tensor) const;
  // Whether all tasks touch the same cells of their members.
  static bool are_alike(const Where& where, const Moving& box);

  // The contents of the members, grouped by common state.
  std::vector<std::pair<Box, const Contents*>> held(const Where& where) const;
  Contents& at(BufferId id);  // for a member without a row, or a row with one state
  void read(const Where& where, const Box& cells);
  // Discards the contents of the memory and of those that overlap it, unless the write adds to them. Tasks of one
  // operation may write one memory, at disjoint points.
  std::vector<State*> write(const Where& where, const Box& cells, bool dense = true, const Wrote& wrote = {});
  // For a row of tasks whose points advance along the levels, if they also advance along the members.
  static std::optional<Wrote> wrote(const Where& where, const ir::Operator& op, const ir::Access& by,
                                    const Moving& points);
  void take(BufferId id, BufferId writer);  // its range is then its own, or its partner's
  void invalidate(BufferId id);             // also what overlaps it
  void mark_swapped(BufferId a, BufferId b);
  void move(BufferId from, BufferId to);

 private:
  struct Members {
    std::vector<State> states;
    bool each = false;      // each member has a state, in order
    BufferId partner = {};  // the memory it is exchanged with
    std::size_t read_in = 0;
    std::vector<std::pair<Box, Box>> read = {};  // members and cells in that batch, if not recorded by member
  };
  void own(BufferId id);
  Box all_members(BufferId id) const;
  std::vector<std::size_t> numbers_of(const Where& where) const;
  std::vector<State*> at(const Where& where);
  std::vector<State*> each_at(const Where& where);
  bool is_read(const Where& where, const Box& cells) const;  // in this batch
  void divide(BufferId id);
  ir::Range range_of(BufferId id) const;  // of bytes
  bool is_used(BufferId id) const;        // in this batch

  const ir::Schedule& s_;
  const Obligation keeps_;
  std::size_t batch_ = 0;
  std::vector<Members> all_;  // by buffer
  // Planned memory, by start address.
  std::map<ir::MemorySpace, std::map<std::int64_t, BufferId>> owners_;
};

}  // namespace tap::check
