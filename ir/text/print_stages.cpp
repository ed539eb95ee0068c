#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "ir/block_program.h"
#include "ir/graph.h"
#include "ir/text/stage_text.h"
#include "ir/text/text_tables.h"
#include "ir/text_names.h"

namespace tap::ir {

namespace {

// Lines of a text, without a string for each part: a schedule may have hundreds of thousands of lines.
class Lines {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void add(const Box& box) {
    add("[");
    for (std::size_t d = 0; d < box.rank(); ++d) add("{}{}..{}", d == 0 ? "" : ", ", box.dims[d].lo, box.dims[d].hi);
    add("]");
  }
  void add(const Row& row) {
    for (const Level& level : row) add(" times {} by ({})", level.count, fmt::join(level.steps, ", "));
  }
  void add(HeldId id) { add("{}", id.index()); }
  void add(BufferId id) { add("b{}", id.index()); }
  template <class Id>
  void add(Member<Id> one) {
    add(one.id);
    if (one.number != 0) add("#{}", one.number);
  }
  template <class One>
  void add(const std::vector<One>& list) {
    add("(");
    for (const One& one : list) {
      if (&one != list.data()) add(", ");
      add(one);
    }
    add(")");
  }
  std::string take() { return fmt::to_string(out_); }

 private:
  fmt::memory_buffer out_;
};

class BlockGraphPrinter {
 public:
  BlockGraphPrinter(const Program& program, const BlockGraph& blocks, Lines& out)
      : program_(program), blocks_(blocks), graph_(program[blocks.graph]), out_(out) {}

  void run(bool explained) {
    std::vector<std::string> names = explained ? explanations() : std::vector<std::string>();
    auto end = [&, k = std::size_t{0}]() mutable {
      if (explained && k < names.size()) out_.add("  // {}", names[k++]);
      out_.add("\n");
    };
    out_.add("graph {}", blocks_.graph.index());
    end();
    if (!blocks_.devices.empty()) out_.add("  devices [{}]\n", fmt::join(blocks_.devices, ", "));
    for (std::size_t h = 0; h < blocks_.held.size(); ++h) {
      const Held& held = blocks_.held[h];
      out_.add("  held {} value {} ", h, held.value.index());
      out_.add(held.box);
      on(held.device);
      out_.add(held.row);
      if (explained) out_.add("  // {}", written_name(graph_[held.value].name));
      out_.add("\n");
    }
    out_.add("  inputs ");
    out_.add(blocks_.inputs);
    out_.add("\n");
    for (const Task& task : blocks_.tasks) {
      std::visit([this](const auto& t) { line(t); }, task);
      end();
    }
    for (const auto& holders : blocks_.outputs) {
      out_.add("  output ");
      out_.add(holders);
      end();
    }
  }

 private:
  // The comment of each line, with names: for the graph, its tasks and its outputs, in order.
  std::vector<std::string> explanations() const {
    std::vector<std::string> lines;
    std::string text = print_in_rows(program_, blocks_);
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = text.find('\n', begin);
      std::string_view line = std::string_view(text).substr(begin, end - begin);
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      lines.emplace_back(line);
      begin = end + 1;
    }
    return lines;
  }

  void on(std::int64_t device) {
    if (device != everywhere) out_.add(" device {}", device);
  }
  void line(const Application& a) {
    out_.add("  apply {} on ", a.operation.index());
    out_.add(a.box);
    on(a.device);
    out_.add(" ");
    out_.add(a.operands);
    out_.add(" -> ");
    out_.add(a.results);
    out_.add(a.row);
  }
  void line(const Move& m) {
    out_.add("  move {} ", m.operation.index());
    out_.add(m.box);
    out_.add(" from ");
    out_.add(m.from);
    out_.add(" to ");
    out_.add(m.to);
    out_.add(m.row);
  }

  const Program& program_;
  const BlockGraph& blocks_;
  const Graph& graph_;
  Lines& out_;
};

class SchedulePrinter {
 public:
  explicit SchedulePrinter(const Schedule& schedule) : s_(schedule) {}

  std::string run() {
    out_.add("tap-schedule 3\nkernels {}, arena {} bytes, prepared {} bytes\n", s_.kernels.size(), s_.arena_bytes,
             s_.prepared_bytes);
    out_.add("kernel_of [");
    for (std::size_t k = 0; k < s_.kernel_of.size(); ++k) {
      if (k > 0) out_.add(", ");
      if (s_.kernel_of[k]) out_.add("{}", *s_.kernel_of[k]);
      else out_.add("none");
    }
    out_.add("]\n");
    for (std::size_t k = 0; k < s_.prepared.size(); ++k)
      for (const Preparation& p : s_.prepared[k]) prepares(k, p);
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) kernel(k, s_.kernels[k]);
    if (s_.preparation) out_.add("preparation {}\n", *s_.preparation);
    for (const ProgramTensor& t : s_.inputs) tensor("input", t);
    for (const ProgramTensor& t : s_.outputs) tensor("output", t);
    for (const std::string& symbol : s_.outside) out_.add("outside {}\n", quoted(symbol));
    for (std::size_t o = 0; o < s_.operations.size(); ++o) operation(o, s_.operations[o]);
    for (std::size_t b = 0; b < s_.buffers.size(); ++b) buffer(b, s_.buffers[b]);
    for (std::size_t s = 0; s < s_.sequences.size(); ++s) {
      out_.add("sequence {}\n", s);
      for (const Batch& batch : s_.sequences[s]) {
        out_.add("batch\n");
        for (const ScheduledTask& task : batch) line(task);
      }
    }
    return out_.take();
  }

 private:
  void prepares(std::size_t op, const Preparation& p) {
    out_.add("prepares {} operand {} by {} as {} over (", op, p.operand, p.kernel, to_string(p.type));
    for (std::size_t k = 0; k < p.dims.size(); ++k) {
      out_.add("{}{}", k == 0 ? "" : ", ", p.dims[k]);
      if (p.dims[k] == p.along) out_.add(" by {}", p.step);
    }
    out_.add(")\n");
  }
  // kernel 0 of 3 cut 1 by 32           kernel 1 of 3 packs 1
  void kernel(std::size_t number, const ScheduledKernel& k) {
    out_.add("kernel {} of {}", number, k.computes.index());
    if (k.packs) out_.add(" packs {}", *k.packs);
    if (k.any_box) out_.add(" on any box");
    if (k.tile_dim) out_.add(" cut {} by {}", *k.tile_dim, k.grain);
    out_.add("\n");
  }
  void tensor(std::string_view what, const ProgramTensor& t) {
    out_.add("{} {}: {}{}\n", what, written_name(t.name), to_string(t.type), t.constant ? " const" : "");
  }

  // operation 3 of 2/5 is relu writes Y over (i, "#r" hidden) from (X [32, 32])
  void operation(std::size_t number, const ScheduledOperation& o) {
    out_.add("operation {} of ", number);
    for (const PathStep& step : o.what.path) {
      out_.add("{}", step.operation.index());
      if (step.alternative != 0) out_.add(":{}", step.alternative);
      out_.add("/");
    }
    out_.add("{} is {} writes {} over (", o.what.operation.index(), written_name(o.name), written_name(o.result));
    for (std::size_t d = 0; d < o.dims.size(); ++d)
      out_.add("{}{}{}", d == 0 ? "" : ", ", written_name(o.dims[d].name), o.dims[d].hidden ? " hidden" : "");
    out_.add(") from (");
    for (std::size_t k = 0; k < o.operands.size(); ++k)
      out_.add("{}{} [{}]", k == 0 ? "" : ", ", written_name(o.operands[k].first),
               fmt::join(o.operands[k].second, ", "));
    out_.add(")\n");
  }

  void buffer(std::size_t number, const Buffer& b) {
    out_.add("b{} {} ", number, name_of(b.element));
    out_.add(b.box);
    out_.add(" {} {}", words::text_of(words::memory_spaces, b.space), b.at);
    out_.add(b.row);
    if (!b.name.empty()) out_.add("  // {}", written_name(b.name));
    out_.add("\n");
  }

  void line(const ScheduledTask& task) {
    out_.add("  ");
    std::visit([this](const auto& what) { this->task(what); }, task.what);
    if (task.tiles != 1) out_.add(", parts {}", task.tiles);
    out_.add("\n");
  }
  void task(const KernelCall& call) {
    out_.add("kernel {} of {} on ", call.kernel, call.operations);
    out_.add(call.box);
    out_.add(" ");
    out_.add(call.buffers);
    if (!call.counters.empty()) {
      out_.add(" counters (");
      for (std::size_t k = 0; k < call.counters.size(); ++k)
        out_.add("{}{}: {}", k == 0 ? "" : ", ", call.counters[k].dim, call.counters[k].level);
      out_.add(")");
    }
    out_.add(", {} tiles", call.tiles);
    out_.add(call.row);
  }
  void task(const CopyBox& copy) {
    out_.add("copy ");
    out_.add(copy.box);
    out_.add(" from ");
    out_.add(copy.from);
    out_.add(" to ");
    out_.add(copy.to);
    out_.add(copy.row);
  }
  void task(const Fill& fill) {
    out_.add("fill ");
    out_.add(fill.buffer);
    out_.add(" with {} {}", name_of(fill.value.type), to_string(fill.value));
    out_.add(fill.row);
  }
  void task(const OutsideCall& call) {
    out_.add("outside {} of {} on ", call.outside, call.operation);
    out_.add(call.box);
    out_.add(" of [{}] ", fmt::join(call.extents, ", "));
    out_.add(call.regions);
    out_.add(call.row);
  }
  void task(const Iteration& loop) {
    out_.add("iterate {}..{} of {} by sequence {} (", loop.steps.lo, loop.steps.hi, loop.operation, loop.body);
    for (const ExchangedState& one : loop.states)
      out_.add("{}{} in b{} and b{}", &one == loop.states.data() ? "" : ", ", one.state, one.now.index(),
               one.next.index());
    out_.add(")");
  }

  const Schedule& s_;
  Lines out_;
};

}  // namespace

std::string print(const BlockProgram& blocks, bool explained) {
  Lines out;
  out.add("tap-blocks 1\n");
  for (const BlockGraph& graph : blocks.graphs) BlockGraphPrinter(blocks.program, graph, out).run(explained);
  return out.take();
}

std::string print(const Schedule& schedule) { return SchedulePrinter(schedule).run(); }

}  // namespace tap::ir
