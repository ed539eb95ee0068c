#include "backend/schedule/reach.h"

#include <algorithm>
#include <utility>

#include "backend/loops/may_fail.h"
#include "support/checked.h"
#include "support/tensor.h"

namespace tap::backend {

using namespace ir;

namespace {

// Batches beyond these wait for all tiles: what is computed here takes time for each.
constexpr std::size_t most_calls = 16;
constexpr std::int64_t most_tiles = 4096;

struct Bytes {
  std::int64_t lo = 0, hi = 0;
};

std::int64_t count_tiles(const Batch& batch) {
  std::int64_t tiles = 0;
  for (const ScheduledTask& task : batch) {
    const auto* call = std::get_if<KernelCall>(&task.what);
    const std::int64_t calls = call ? count_of(call->row) : 1;
    if (task.tiles > most_tiles || calls > most_tiles) return most_tiles + 1;
    tiles = std::min(tiles + task.tiles * calls, most_tiles + 1);
  }
  return tiles;
}

}  // namespace

// Memory that consecutive tiles touch: whose bytes never lie before those of the tile before.
struct Reach::Touched {
  MemorySpace space = MemorySpace::arena;
  std::int64_t number = 0;  // of an input or output
  bool writes = false;
  std::int64_t first = 0;  // tile
  std::vector<Bytes> bytes = {};

  bool overlaps(const Touched& other) const {
    return !bytes.empty() && !other.bytes.empty() && bytes.front().lo < other.bytes.back().hi &&
           other.bytes.front().lo < bytes.back().hi;
  }
  // The farthest of the other's tiles that touches what a tile of this one does, one of both writing; `all`: none does.
  std::int64_t distance(const Touched& other) const {
    std::int64_t farthest = all;
    if (space != other.space || number != other.number || (!writes && !other.writes) || !overlaps(other))
      return farthest;
    const auto& its = other.bytes;
    for (std::size_t t = 0; t < bytes.size(); ++t) {
      const Bytes mine = bytes[t];
      if (mine.lo >= mine.hi) continue;
      const auto begin = std::ranges::partition_point(its, [&](const Bytes& b) { return b.hi <= mine.lo; });
      const auto end = std::ranges::partition_point(its, [&](const Bytes& b) { return b.lo < mine.hi; });
      if (begin >= end) continue;
      const std::int64_t tile = first + static_cast<std::int64_t>(t);
      farthest = std::max({farthest, std::abs(tile - (other.first + (begin - its.begin()))),
                           std::abs(tile - (other.first + (end - 1 - its.begin())))});
    }
    return farthest;
  }
};

Reach::Reach(const Schedule& schedule, const std::vector<Kernel>& kernels) : schedule_(schedule), kernels_(kernels) {
  for (const Kernel& kernel : kernels) may_fail_.push_back(kernel_may_fail(kernel));
}

std::int64_t Reach::of(std::size_t sequence, std::size_t batch) const {
  const Sequence& batches = schedule_.sequences[sequence];
  if (batch > 0) return of(batches[batch - 1], batches[batch], {});
  for (const Sequence& outer : schedule_.sequences)
    for (const Batch& around : outer)
      for (const ScheduledTask& task : around)
        if (const auto* loop = std::get_if<Iteration>(&task.what); loop && loop->body == sequence)
          return of(batches.back(), batches.front(), loop->states);
  return all;
}

std::int64_t Reach::of(const Batch& before, const Batch& batch, const Exchanged& exchanged) const {
  const std::int64_t tiles = count_tiles(batch);
  if (kernels_.empty() || tiles > most_tiles || tiles != count_tiles(before)) return all;
  if (may_fail(before))
    return all;  // its tiles run again to find the first point that fails, and read what they read then
  std::vector<Touched> by, mine;
  if (!add(by, before, exchanged) || !add(mine, batch, {})) return all;
  std::int64_t farthest = 0;
  for (const Touched& one : mine)
    for (const Touched& other : by) {
      farthest = std::max(farthest, one.distance(other));
      if (farthest > tiles / 2) return all;
    }
  return farthest;
}

bool Reach::may_fail(const Batch& batch) const {
  return std::ranges::any_of(batch, [&](const ScheduledTask& task) {
    const auto* call = std::get_if<KernelCall>(&task.what);
    return call && may_fail_[call->kernel];
  });
}

bool Reach::add(std::vector<Touched>& to, const Batch& batch, const Exchanged& exchanged) const {
  std::int64_t tile = 0;
  std::size_t calls = 0;
  for (const ScheduledTask& task : batch) {
    const auto* call = std::get_if<KernelCall>(&task.what);
    if (!call || (calls += static_cast<std::size_t>(count_of(call->row))) > most_calls) return false;
    for (const KernelCall& one : members(*call)) {
      const std::size_t begin = to.size();
      add(to, tile, task.tiles, one);
      for (std::size_t k = begin; k < to.size(); ++k) place(to[k], one.buffers[k - begin].id, exchanged);
      tile += task.tiles;
    }
  }
  return true;
}

void Reach::add(std::vector<Touched>& to, std::int64_t tile, std::int64_t tiles, const KernelCall& call) const {
  for (std::size_t k = 0; k < call.buffers.size(); ++k) {
    to.push_back(part(call, k, tiles));
    to.back().first = tile;
  }
}

// Without addresses.
Reach::Touched Reach::part(const KernelCall& call, std::size_t argument, std::int64_t tiles) const {
  const Kernel& kernel = kernels_[call.kernel];
  const Buffer& buffer = schedule_.buffers[call.buffers[argument].id.index()];
  Touched made;
  made.writes = argument >= kernel.operands;
  const std::optional<NearCells> near =
      argument < kernel.near.size() && buffer.space != MemorySpace::prepared ? kernel.near[argument] : std::nullopt;
  const Shape shape = buffer.box.shape();
  if (!near || std::any_of(shape.begin(), shape.begin() + near->axis, [](std::int64_t size) { return size != 1; })) {
    made.bytes.assign(static_cast<std::size_t>(tiles), {0, buffer.bytes()});
    return made;
  }
  const Range points = call.box.dims[*kernel.tile_dim], held = buffer.box.dims[near->axis];
  const std::int64_t each = buffer.bytes() / std::max<std::int64_t>(held.size(), 1);
  const auto end_of_part = [&](std::int64_t part) {  // as in runtime/executor_tasks.cpp
    const std::int64_t done = call.tiles / tiles * part + call.tiles % tiles * part / tiles;
    return std::min(points.hi, checked::add(points.lo, checked::mul(kernel.grain, done)));
  };
  const auto place_of = [&](std::int64_t coordinate) {
    return (std::clamp(coordinate, held.lo, held.hi) - held.lo) * each;
  };
  for (std::int64_t part = 0; part < tiles; ++part) {
    const std::int64_t lo = end_of_part(part), hi = end_of_part(part + 1);
    const std::int64_t least = checked::add(checked::mul(near->step, lo), near->low);
    const std::int64_t most = checked::add(checked::mul(near->step, hi - 1), near->high);
    made.bytes.push_back({place_of(least), place_of(checked::add(most, 1))});
  }
  return made;
}

void Reach::place(Touched& one, BufferId id, const Exchanged& exchanged) const {
  for (const ExchangedState& state : exchanged)
    if (id == state.now || id == state.next) {
      id = id == state.now ? state.next : state.now;
      break;
    }
  const Buffer& buffer = schedule_.buffers[id.index()];
  one.space = buffer.space;
  if (buffer.space == MemorySpace::input || buffer.space == MemorySpace::output) {
    one.number = buffer.at;
    return;
  }
  for (Bytes& bytes : one.bytes) bytes = {bytes.lo + buffer.at, bytes.hi + buffer.at};
}

}  // namespace tap::backend
