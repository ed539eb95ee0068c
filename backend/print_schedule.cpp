#include <fmt/format.h>

#include "backend/schedule.h"

namespace tap::backend {
namespace {

std::string number(BufferId id) { return fmt::format("b{}", id.index()); }
std::string list(const std::vector<BufferId>& ids) {
  std::vector<std::string> parts;
  for (BufferId id : ids) parts.push_back(number(id));
  return fmt::format("({})", fmt::join(parts, ", "));
}

class Printer {
 public:
  explicit Printer(const Schedule& schedule) : schedule_(schedule) {}

  std::string run() {
    out_ = fmt::format("schedule: {} kernels, arena {} bytes, scratch {} bytes", schedule_.kernels,
                       schedule_.arena_bytes, schedule_.scratch_bytes);
    if (schedule_.preparation) out_ += fmt::format(", prepared {} bytes", schedule_.prepared_bytes);
    out_ += "\n";
    for (std::size_t b = 0; b < schedule_.buffers.size(); ++b) print(BufferId(b), schedule_.buffers[b]);
    print(schedule_.sequences.at(0), 0);
    if (schedule_.preparation) {
      out_ += "prepare\n";
      print(schedule_.sequences.at(*schedule_.preparation), 0);
    }
    return std::move(out_);
  }

 private:
  void print(BufferId id, const Buffer& b) {
    out_ += fmt::format("  {} {}: {}{} ", number(id), b.name, name_of(b.element), ir::to_string(b.box));
    switch (b.place) {
      case BufferPlace::arena:
        if (b.last < b.first) out_ += "not used";
        else out_ += fmt::format("arena {}..{}, batches {}..{}", b.at, b.at + b.bytes(), b.first, b.last);
        break;
      case BufferPlace::input: out_ += fmt::format("input {}", b.at); break;
      case BufferPlace::prepared: out_ += fmt::format("prepared {}..{}", b.at, b.at + b.bytes()); break;
      case BufferPlace::output: out_ += fmt::format("output {}", b.at); break;
    }
    out_ += "\n";
  }

  void print(const Sequence& sequence, int depth) {
    for (const Batch& batch : sequence) {
      out_ += fmt::format("{:{}}batch {}\n", "", 2 * depth, batches_++);
      for (const ScheduledTask& task : batch) {
        out_ += fmt::format("{:{}}", "", 2 * depth + 2);
        std::visit([&](const auto& what) { print(what); }, task.what);
        if (task.tiles != 1) out_ += fmt::format(", {} tiles", task.tiles);
        out_ += "\n";
        if (auto* loop = std::get_if<Iteration>(&task.what)) print(schedule_.sequences.at(loop->body), depth + 2);
      }
    }
  }

  void print(const KernelCall& call) {
    out_ += fmt::format("kernel {} {} on {} {}", call.kernel, schedule_.operations[call.operations].name,
                        ir::to_string(call.box), list(call.buffers));
    for (const Counter& c : call.counters) out_ += fmt::format(", dim {} counts iterate {}", c.dim, c.level);
  }
  void print(const CopyBox& copy) {
    out_ += fmt::format("copy {} of {} to {}", ir::to_string(copy.box), number(copy.from), number(copy.to));
  }
  void print(const Fill& fill) {
    out_ += fmt::format("fill {} with {}", number(fill.buffer), ir::to_string(fill.value));
  }
  void print(const OutsideCall& call) {
    out_ += fmt::format("outside {} {} on {} {}", call.outside, schedule_.outside[call.outside],
                        ir::to_string(call.box), list(call.regions));
  }
  void print(const Iteration& loop) {
    out_ += fmt::format("iterate {}..{}", loop.steps.lo, loop.steps.hi);
    for (auto [now, next] : loop.states) out_ += fmt::format(", {} and {} exchanged", number(now), number(next));
  }

  const Schedule& schedule_;
  std::string out_;
  std::size_t batches_ = 0;
};

}  // namespace

std::string print(const Schedule& schedule) { return Printer(schedule).run(); }

}  // namespace tap::backend
