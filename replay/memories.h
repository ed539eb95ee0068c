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

// The members that a row of tasks works on, one by each task or one by several.
struct Where {
  ir::BufferId id;
  Box members;                      // by their places along the levels of the row that they are in
  std::vector<Along> places = {};   // the first task's and the others': along each of those levels
  std::vector<Along> further = {};  // by dim: how far their boxes are from the first member's
  bool each_by_one = true;          // no two of the tasks work on the same
};

struct State {
  Box members;
  Contents contents = {};
  std::size_t read_in = 0, written_in = 0;  // the batch in which it was last (read: if each member has its own)
  BoxSet cells = {};                        // written in that batch: what, and …
  Points points = {};                       // … by which points of `by`
  const ir::Access* by = nullptr;
  bool dense = true;  // all those writes leave no gaps, so that the cells describe them
};

class Memories {
 public:
  using BufferId = ir::BufferId;
  Memories(const ir::Schedule& schedule, Obligation keeps);

  void begin_batch() { ++batch_; }
  const ir::Buffer& buffer(BufferId id) const { return s_.buffers[id.index()]; }
  Where where(const ir::BufferMember& one, const ir::Row& levels, std::size_t column) const;
  Where where(BufferId id) const;  // all members
  // What the tasks touch of a box that is repeated along the levels, as cells of the first member's: all of it, if they touch
  // different cells of theirs.
  Box cells_of(const Where& where, const ir::Row& levels, const Moving& box) const;
  // The whole tensor as cells of the first member's: what all of the members see of it, and what some do.
  struct Seen {
    Box by_all, by_some;
  };
  Seen seen(BufferId id, const Box& members, const Shape& tensor) const;
  // Whether all tasks touch the same cells of theirs.
  static bool are_alike(const Where& where, const Moving& box);

  // What those of the members hold that have one state.
  std::vector<std::pair<Box, const Contents*>> held(const Where& where) const;
  Contents& at(BufferId id);  // of what is in no row, or one all over
  void read(const Where& where);
  // What was in it, and in all that overlaps it, is gone unless it is more of the same. Tasks of one operation may write one
  // memory, at points that are apart.
  std::vector<State*> write(const Where& where, const Box& cells, bool dense = true, const Wrote& wrote = {});
  // Of a row of tasks at points that go on along the levels, if they go on along the members, too.
  static std::optional<Wrote> wrote(const Where& where, const ir::Operator& op, const ir::Access& by,
                                    const Moving& points);
  void take(BufferId id, BufferId writer);  // its range is its own, or its partner's
  void invalidate(BufferId id);             // nor what overlaps it
  void exchange_places(BufferId a, BufferId b);
  void move(BufferId from, BufferId to);

 private:
  struct Members {
    std::vector<State> states;
    bool each = false;      // has one, in order
    BufferId partner = {};  // with which it changes places
    std::size_t read_in = 0;
    std::vector<Box> read = {};  // in that batch, unless each is notified
  };
  void own(BufferId id);
  Box all_members(BufferId id) const;
  std::vector<std::size_t> numbers_of(const Where& where) const;
  std::vector<State*> at(const Where& where);
  std::vector<State*> each_at(const Where& where);
  bool is_read(const Where& where) const;  // in this batch
  void divide(BufferId id);
  ir::Range range_of(BufferId id) const;  // of bytes
  bool is_used(BufferId id) const;        // in this batch

  const ir::Schedule& s_;
  const Obligation keeps_;
  std::size_t batch_ = 0;
  std::vector<Members> all_;  // by buffer
  // Of planned memory, by where they begin.
  std::map<ir::BufferPlace, std::map<std::int64_t, BufferId>> owners_;
};

}  // namespace tap::check
