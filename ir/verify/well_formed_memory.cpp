// The memory of schedules: its size is that of its buffers, without gaps between them, and each buffer is exactly as
// large as its tasks need.
//
//   arena 128 bytes, b2 f32 [0..8] arena 0, b3 f32 [0..8] arena 64         not 1280 bytes, nor b3 at 640
#include "ir/graph.h"
#include "ir/verify/well_formed_reader.h"
#include "support/alignment.h"

namespace tap::ir {

namespace {

constexpr std::int64_t most_listed = 1 << 22;  // members that are checked one by one

class MemoryReader : StageReader {
 public:
  MemoryReader(const Program& program, const Schedule& schedule) : StageReader(program), s_(schedule) {}

  void run() {
    for (std::size_t s = 0; s < s_.sequences.size(); ++s)
      for (const Batch& batch : s_.sequences[s])
        for (const ScheduledTask& task : batch) std::visit([&](const auto& what) { read(what); }, task.what);
    for (std::size_t b = 0; b < s_.buffers.size(); ++b) {
      at(fmt::format("b{}", b));
      fits(s_.buffers[b], used_[b]);
    }
    at("the schedule");
    need(s_.arena_bytes == all_of(MemorySpace::arena) && s_.prepared_bytes == all_of(MemorySpace::prepared),
         "its memory differs from its buffers");
  }

 private:
  // How tasks use a buffer: as a tensor of these extents, or as these cells; and which members.
  struct Used {
    bool is_whole = false;  // a fill, or a region of an outside kernel, uses the whole box
    Shape extents = {};
    Box cells = {};
    bool any = false, all = false;   // whether some, or all, members are used
    std::vector<bool> members = {};  // if not all are
  };

  // Marks the member that a task uses, and those of its row, by this column of steps.
  void use(const BufferMember& one, const Row& row, std::size_t column) {
    Used& used = used_[one.id.index()];
    used.any = true;
    const std::int64_t count = count_of(s_.buffers[one.id.index()].row);
    used.all |= count == 1 || (one.number == 0 && reaches_all(row, column, count));
    if (used.all) return used.members.clear();
    if (count > most_listed) return;
    used.members.resize(static_cast<std::size_t>(count));
    mark(used.members, one.number, row, column, 0);
    used.all = std::ranges::find(used.members, false) == used.members.end();
  }
  static bool reaches_all(const Row& row, std::size_t column, std::int64_t count) {
    std::vector<std::pair<std::int64_t, std::int64_t>> levels;
    for (const Level& level : row)
      if (level.steps[column] != 0) levels.emplace_back(level.steps[column], level.count);
    std::ranges::sort(levels);
    std::int64_t reached = 1;
    for (auto [step, times] : levels) {
      if (step != reached) return false;
      reached = checked::mul(reached, times);
    }
    return reached == count;
  }
  static void mark(std::vector<bool>& members, std::int64_t number, const Row& row, std::size_t column,
                   std::size_t level) {
    if (level == row.size()) {
      members[static_cast<std::size_t>(number)] = true;
      return;
    }
    const std::int64_t step = row[level].steps[column];
    for (std::int64_t k = 0; k < (step == 0 ? 1 : row[level].count); ++k)
      mark(members, number + k * step, row, column, level + 1);
  }
  void use(const BufferMember& one, const Row& row, std::size_t column, const Shape& extents) {
    use(one, row, column);
    used_[one.id.index()].extents = extents;
  }
  void use(const BufferMember& one, const CopyBox& copy, std::size_t column) {
    use(one, copy.row, column);
    Box cells = copy.box;
    for (std::size_t d = 0; d < cells.rank(); ++d)
      for (const Level& level : copy.row) {
        const std::int64_t by = checked::mul(level.steps[d], level.count - 1);
        std::int64_t& end = by < 0 ? cells.dims[d].lo : cells.dims[d].hi;
        end = checked::add(end, by);
      }
    Box& all = used_[one.id.index()].cells;
    if (all.rank() != cells.rank()) all = cells;
    for (std::size_t d = 0; d < cells.rank(); ++d)
      all.dims[d] = {std::min(all.dims[d].lo, cells.dims[d].lo), std::max(all.dims[d].hi, cells.dims[d].hi)};
  }

  void read(const KernelCall& call) {
    const ScheduledOperation& operation = s_.operations[call.operations];
    for (std::size_t k = 0; k < call.buffers.size(); ++k) {
      const Buffer& buffer = s_.buffers[call.buffers[k].id.index()];
      const std::size_t column = call.box.rank() + k, operands = operation.operands.size();
      if (buffer.space != MemorySpace::arena) use(call.buffers[k], call.row, column, extents_of(buffer.box));
      else if (k < operands) use(call.buffers[k], call.row, column, operation.operands[k].second);
      else use(call.buffers[k], call.row, column, result_of(operation, k - operands));
    }
  }
  void read(const CopyBox& copy) {
    use(copy.from, copy, copy.box.rank());
    use(copy.to, copy, copy.box.rank() + 1);
  }
  void read(const Fill& fill) { use(fill.buffer, fill.row, 0); }
  void read(const OutsideCall& call) {
    for (std::size_t k = 0; k < call.regions.size(); ++k) {
      use(call.regions[k], call.row, call.box.rank() + k);
      used_[call.regions[k].id.index()].is_whole = true;  // known only at run time, from the outside kernel's accesses
    }
  }
  void read(const Iteration& loop) {
    for (const auto& [state, now, next] : loop.states)
      for (BufferId id : {now, next}) {
        used_[id.index()].any = used_[id.index()].all = true;
        used_[id.index()].extents = result_of(s_.operations[loop.operation], state);
      }
  }

  const Shape& result_of(const ScheduledOperation& operation, std::size_t k) const {
    const Graph* graph = &p_[p_.main];
    for (const PathStep& step : operation.what.path) graph = &p_[p_[(*graph)[step.operation].op].region()->graph];
    return p_[(*graph)[operation.what.operation].op].results[k].shape;
  }
  static Shape extents_of(const Box& box) {
    Shape extents;
    for (Range r : box.dims) extents.push_back(checked::sub(r.hi, r.lo));
    return extents;
  }

  void fits(const Buffer& buffer, const Used& used) const {
    if ((buffer.space != MemorySpace::arena && buffer.space != MemorySpace::prepared) || bytes_of(buffer) == 0) return;
    need(used.any, "no task uses it");
    need(used.all, "it has members that no task uses");
    for (std::size_t d = 0; d < buffer.box.rank() && !used.is_whole; ++d) {
      const std::int64_t size = checked::sub(buffer.box.dims[d].hi, buffer.box.dims[d].lo);
      bool needed = !used.extents.empty() && size <= used.extents[d];
      if (used.cells.rank() > 0)
        needed |= used.cells.dims[d].lo <= buffer.box.dims[d].lo && buffer.box.dims[d].hi <= used.cells.dims[d].hi;
      need(needed, "it is larger than its tasks need");
    }
  }

  std::int64_t bytes_of(const Buffer& buffer) const {  // of a member, aligned
    if (buffer.box.empty()) return 0;                  // however large its other extents are
    std::int64_t bytes = static_cast<std::int64_t>(size_of(buffer.element));
    for (Range r : buffer.box.dims) bytes = checked::mul(bytes, std::max<std::int64_t>(checked::sub(r.hi, r.lo), 0));
    return checked::mul(checked::add(bytes, buffer_alignment - 1) / buffer_alignment, buffer_alignment);
  }
  // The end of the last one. Buffers overlap if they are not in use together, and leave no gaps.
  std::int64_t all_of(MemorySpace space) {
    std::vector<Range> taken;
    for (std::size_t b = 0; b < s_.buffers.size(); ++b) {
      const Buffer& buffer = s_.buffers[b];
      std::int64_t bytes = bytes_of(buffer);
      if (buffer.space != space || bytes == 0) continue;
      at(fmt::format("b{}", b));
      for (auto level = buffer.row.rbegin(); level != buffer.row.rend(); ++level) {
        need(level->steps.back() == bytes, "its members are not contiguous");
        bytes = checked::mul(bytes, level->count);
      }
      taken.push_back({buffer.at, checked::add(buffer.at, bytes)});
    }
    std::ranges::sort(taken, {}, &Range::lo);
    std::int64_t end = 0;
    at("the schedule");
    for (Range r : taken) {
      need(r.lo < checked::add(end, buffer_alignment), "some memory is unused");
      end = std::max(end, r.hi);
    }
    return end;
  }

  const Schedule& s_;
  std::vector<Used> used_ = std::vector<Used>(s_.buffers.size());  // by buffer
};

}  // namespace

void read_memory(const Program& program, const Schedule& schedule) { MemoryReader(program, schedule).run(); }

}  // namespace tap::ir
