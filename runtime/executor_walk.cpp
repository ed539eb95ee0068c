#include "runtime/executor_walk.h"

#include <string.h>

namespace tap::executor {

using namespace tables;

namespace {

// How often a thread looks whether the others end by themselves, before it takes their tiles: fewer than a microsecond.
constexpr int looks = 32;

int64_t seen(const int64_t& value) { return __atomic_load_n(&value, __ATOMIC_ACQUIRE); }

}  // namespace

// A thread on its way. Each counts the tiles that it ran, in all batches; a batch begins only when the one before is complete, so
// their sum tells which batches are. Steps are batches, through all trips.
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

  // False: a batch failed.
  bool sequence(int64_t number, int64_t depth) {
    const List& batches = tables_.all<Sequence>(tables_.head().sequences)[number].batches;
    for (int64_t b = 0; b < batches.count; ++b) {
      const Batch& batch = tables_.all<Batch>(batches)[b];
      const Task& first = *tables_.at<Task>(*tables_.words(batch.tasks.at));
      if (!(first.kind == iteration ? trips(static_cast<const Iteration&>(first), depth)
            : is_shared(batch)      ? together(batch, depth)
                                    : alone(batch, depth)))
        return false;
    }
    return true;
  }
  void end() const {
    if (opened_) walk_.pool_.close();
  }

 private:
  bool trips(const Iteration& task, int64_t depth) {
    const auto* states = tables_.all<State>(task.states);
    for (int64_t trip = task.first; trip < task.end; ++trip) {
      call_.counters[depth] = trip;
      if (!sequence(task.body, depth + 1)) return false;
      for (int64_t s = 0; s < task.states.count; ++s) {
        void* now = call_.addresses[states[s].now];
        call_.addresses[states[s].now] = call_.addresses[states[s].next];
        call_.addresses[states[s].next] = now;
      }
    }
    return true;
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

  bool together(const Batch& batch, int64_t depth) {
    ++step_;
    if (thread_ == 0 && !opened_) opened_ = walk_.pool_.open(Walk::follow, &walk_);
    tell();
    const Portions portions(batch.tiles, threads_, static_cast<Tiles>(batch.sharing), before_);
    BatchTiles tiles(walk_.code_, call_, batch, depth, thread_);
    bool failed = false;
    int64_t begin, end;
    if (!wait()) return false;  // before it takes any: others may run them while it sleeps
    while (portions.take_own(call_.taken, thread_, &begin, &end)) failed |= !run(tiles, begin, end, batch, depth);
    tell();
    const int64_t after = before_ + batch.tiles;
    for (int look = 0; look < looks && patient_ && opened_ && !is_complete(after); ++look) Pool::pause();
    bool helped = false;
    while (!is_complete(after) && portions.take(call_.taken, thread_, &begin, &end)) {
      failed |= !run(tiles, begin, end, batch, depth);
      tell();
      helped = true;
    }
    patient_ = !helped;
    before_ = after;
    return !failed;
  }

  // False: tasks of the batch failed.
  bool run(BatchTiles& tiles, int64_t begin, int64_t end, const Batch& batch, int64_t depth) {
    const int64_t order = tiles.run(begin, end);
    ran_ += end - begin;
    return order == INT64_MAX || fail(batch, depth, order);
  }

  int64_t& ran_by(int64_t thread) const { return call_.taken[threads_ + thread].tile; }
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
  Portions::begin(call_.taken, 2 * pool_.threads());
  Walker caller(*this, 0);
  caller.sequence(sequence, 0);
  caller.end();
}

}  // namespace tap::executor
