#include "runtime/executor_walk.h"

#include <string.h>

namespace tap::executor {

using namespace tables;

namespace {

// How often a thread looks whether the others end by themselves, before it takes their tiles: fewer than a microsecond.
constexpr int looks = 32;

int64_t seen(const int64_t& value) { return __atomic_load_n(&value, __ATOMIC_ACQUIRE); }

}  // namespace

// A thread on its way. Each counts the tiles that it ran, in all batches, those of a batch only when it knows that the one before is
// complete: so their sum tells which batches are. Steps are batches, through all trips.
class Walker {
 public:
  Walker(Walk& walk, int64_t thread)
      : walk_(walk), tables_(walk.code_.tables), thread_(thread), threads_(walk.pool_.threads()), call_(walk.call_) {
    const Head& head = tables_.head();
    if (head.depth == 0) return;
    char* own = call_.views + thread * walk_bytes(head);
    call_.counters = reinterpret_cast<int64_t*>(own);
    call_.addresses = reinterpret_cast<void**>(call_.counters + head.depth);
    memcpy(call_.addresses, walk.call_.addresses, static_cast<size_t>(head.buffers.count) * sizeof(void*));
  }

  // False: a batch failed. `again`: another trip follows.
  bool sequence(int64_t number, int64_t depth, bool again = false) {
    const List& list = tables_.all<Sequence>(tables_.head().sequences)[number].batches;
    const auto* batches = tables_.all<Batch>(list);
    for (int64_t b = 0; b < list.count; ++b) {
      const Task& first = *tables_.at<Task>(*tables_.words(batches[b].tasks.at));
      const Batch* next = b + 1 < list.count ? &batches[b + 1] : again ? batches : nullptr;
      if (!(first.kind == iteration ? trips(static_cast<const Iteration&>(first), depth)
            : is_shared(batches[b]) ? together(batches[b], next, depth)
                                    : alone(batches[b], depth)))
        return false;
    }
    return true;
  }
  void end() const {
    if (opened_) walk_.pool_.close();
  }

 private:
  bool trips(const Iteration& task, int64_t depth) {
    for (int64_t trip = task.first; trip < task.end; ++trip) {
      call_.counters[depth] = trip;
      if (!sequence(task.body, depth + 1, trip + 1 < task.end)) return false;
      exchange(task);
      pending_.trip = &task;
    }
    return true;
  }
  void exchange(const Iteration& task) {
    const auto* states = tables_.all<State>(task.states);
    for (int64_t s = 0; s < task.states.count; ++s) {
      void* now = call_.addresses[states[s].now];
      call_.addresses[states[s].now] = call_.addresses[states[s].next];
      call_.addresses[states[s].next] = now;
    }
  }

  // Of several such batches one after another, the others hear of the last.
  bool alone(const Batch& batch, int64_t depth) {
    ++step_;
    if (thread_ == 0) {
      if (!wait()) return false;
      BatchTiles tiles(walk_.code_, call_, batch, depth, thread_);
      if (!run(tiles, 0, batch.tiles, batch, depth)) return false;
    }
    before_ += batch.tiles;
    return true;
  }

  bool together(const Batch& batch, const Batch* next, int64_t depth) {
    ++step_;
    if (thread_ == 0 && !opened_) opened_ = walk_.pool_.open(Walk::follow, &walk_);
    tell();
    const Portions portions = portions_of(batch, before_);
    int64_t own = 0, order = INT64_MAX, begin, end;
    if (pending_.batch) {
      own = run_early(batch, portions, depth, &order);
      if (!finish()) return false;
      ran_ += own;
    } else if (!wait()) {  // before it takes any: others may run them while it sleeps
      return false;
    }
    bool failed = order != INT64_MAX && !fail(batch, depth, order);
    BatchTiles tiles(walk_.code_, call_, batch, depth, thread_);
    for (; portions.take_own(call_.taken, thread_, &begin, &end); own += end - begin)
      failed |= !run(tiles, begin, end, batch, depth);
    const bool has_run_all = !failed && own == portions.begin_of(thread_ + 1) - portions.begin_of(thread_);
    if (has_run_all) __atomic_store_n(&call_.told[thread_].step, step_, __ATOMIC_RELEASE);
    tell();
    const int64_t before = before_;
    before_ += batch.tiles;
    if (has_run_all && is_near(next)) {
      pending_ = {&batch, depth, before, nullptr};
      return true;
    }
    for (int look = 0; look < looks && patient_ && opened_ && !is_complete(before_); ++look) Pool::pause();
    bool helped = false;
    failed |= !help(batch, before, depth, &helped);
    patient_ = !helped;
    return !failed;
  }
  Portions portions_of(const Batch& batch, int64_t before) const {
    return Portions(batch.tiles, threads_, static_cast<Tiles>(batch.sharing), before);
  }

  // Tiles of the latest batch that other threads have not taken. False: some failed.
  bool help(const Batch& batch, int64_t before, int64_t depth, bool* helped) {
    const Portions portions = portions_of(batch, before);
    BatchTiles tiles(walk_.code_, call_, batch, depth, thread_);
    bool failed = false;
    int64_t begin, end;
    while (!is_complete(before_) && portions.take(call_.taken, thread_, &begin, &end)) {
      failed |= !run(tiles, begin, end, batch, depth);
      tell();
      *helped = true;
    }
    return !failed;
  }

  // Whether tiles of the batch need only tiles of the same range and of those beside it.
  bool is_near(const Batch* batch) const {
    return opened_ && batch && is_shared(*batch) && batch->apart > 0 && batch->apart - 1 <= batch->tiles / threads_;
  }
  // Tiles of its own range, as far as others have run what these need of the batch before; how many. `order`: the least of those
  // that failed.
  int64_t run_early(const Batch& batch, const Portions& portions, int64_t depth, int64_t* order) {
    BatchTiles tiles(walk_.code_, call_, batch, depth, thread_);
    int64_t count = 0, begin, end;
    for (int look = 0; look < looks && !is_complete(before_);) {
      if (!portions.see_own(call_.taken, thread_, &begin, &end)) break;
      if (!has_what_it_needs(batch, portions, begin, end)) {
        Pool::pause();
        ++look;
        continue;
      }
      if (!portions.take_own(call_.taken, thread_, &begin, &end)) break;
      // Another portion: a thread took the one before, since the batch before is complete.
      while (!has_what_it_needs(batch, portions, begin, end) && !is_complete(before_)) Pool::pause();
      if (const int64_t least = tiles.run(begin, end); least < *order) *order = least;
      count += end - begin;
      look = 0;
    }
    return count;
  }
  bool has_what_it_needs(const Batch& batch, const Portions& portions, int64_t begin, int64_t end) const {
    const int64_t reach = batch.apart - 1;
    return (begin - reach >= portions.begin_of(thread_) || has_ended_range(thread_ - 1)) &&
           (end + reach <= portions.begin_of(thread_ + 1) || has_ended_range(thread_ + 1));
  }
  // In the batch before.
  bool has_ended_range(int64_t thread) const {
    return thread < 0 || thread >= threads_ || seen(call_.told[thread].step) >= step_ - 1;
  }
  // Helps with the batch before and waits until it is complete. False: it failed.
  bool finish() {
    const Pending last = pending_;
    pending_ = {};
    if (!is_complete(before_)) {
      if (last.trip) go_to_trip(*last.trip, last.depth - 1, -1);
      --step_;
      bool helped = false;
      if (!help(*last.batch, last.before, last.depth, &helped)) return false;
      ++step_;
      if (last.trip) go_to_trip(*last.trip, last.depth - 1, 1);
    }
    return wait();
  }
  // The trip before or after this one: another counter, and the states exchanged.
  void go_to_trip(const Iteration& task, int64_t depth, int64_t by) {
    call_.counters[depth] += by;
    exchange(task);
  }

  // False: tasks of the batch failed.
  bool run(BatchTiles& tiles, int64_t begin, int64_t end, const Batch& batch, int64_t depth) {
    const int64_t order = tiles.run(begin, end);
    ran_ += end - begin;
    return order == INT64_MAX || fail(batch, depth, order);
  }

  int64_t& ran_by(int64_t thread) const { return call_.told[thread].tiles; }
  // Whether so many tiles of the walk are complete: the first ones.
  bool is_complete(int64_t tiles) {
    if (complete_ >= tiles) return true;
    int64_t all = ran_;
    for (int64_t thread = 0; thread < threads_ && all < tiles; ++thread)
      if (thread != thread_) all += seen(ran_by(thread));
    if (all >= tiles) complete_ = tiles;
    return all >= tiles;
  }
  void tell() {
    if (ran_ == told_) return;
    told_ = ran_;
    __atomic_store_n(&ran_by(thread_), ran_, __ATOMIC_RELEASE);
    walk_.pool_.tell();
  }

  // Until all batches before this one are complete. False: one failed.
  bool wait() {
    if (!is_ready(this)) walk_.pool_.await(is_ready, this);
    return seen(walk_.failure_.step) >= step_;
  }
  static bool is_ready(void* walker) {
    auto* self = static_cast<Walker*>(walker);
    return self->is_complete(self->before_) || seen(self->walk_.failure_.step) < self->step_;
  }

  bool fail(const Batch& batch, int64_t depth, int64_t order) {
    Walk::Failure& failure = walk_.failure_;
    int64_t none = INT64_MAX, least = seen(failure.order);
    if (__atomic_compare_exchange_n(&failure.step, &none, step_, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      failure.batch = &batch;
      failure.depth = depth;
      failure.addresses = call_.addresses;
      failure.counters = call_.counters;
    }
    while (order < least &&
           !__atomic_compare_exchange_n(&failure.order, &least, order, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    walk_.pool_.tell();
    return false;
  }

  // The batch before, whose tiles others may still be running.
  struct Pending {
    const Batch* batch = nullptr;
    int64_t depth = 0, before = 0;    // the tiles of the batches before it
    const Iteration* trip = nullptr;  // it is in the trip before
  };

  Walk& walk_;
  const Reader tables_;
  const int64_t thread_, threads_;
  Call call_;
  int64_t before_ = 0;          // tiles of the batches before
  int64_t ran_ = 0, told_ = 0;  // by this thread, and what the others know of it
  int64_t complete_ = 0;        // tiles that are known to be
  int64_t step_ = 0;            // number of the batch, from 1
  bool opened_ = thread_ != 0;  // there may be other threads
  bool patient_ = true;         // others ended the last batch by themselves
  Pending pending_;
};

int64_t walk_bytes(const Head& head) {
  if (head.depth == 0) return 0;
  return ((head.depth + head.buffers.count) * static_cast<int64_t>(sizeof(int64_t)) + 127) / 64 * 64;
}

void Walk::follow(void* walk, int64_t thread) {
  auto* self = static_cast<Walk*>(walk);
  Walker(*self, thread).sequence(self->sequence_, 0);
}

void Walk::run(int64_t sequence) {
  sequence_ = sequence;
  Portions::begin(call_.taken, pool_.threads());
  for (int64_t thread = 0; thread < pool_.threads(); ++thread) {
    __atomic_store_n(&call_.told[thread].tiles, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&call_.told[thread].step, 0, __ATOMIC_RELAXED);
  }
  Walker caller(*this, 0);
  caller.sequence(sequence, 0);
  caller.end();
}

}  // namespace tap::executor
