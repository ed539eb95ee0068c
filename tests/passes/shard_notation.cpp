#include "tests/passes/shard_notation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "ir/text_names.h"

namespace tap::ir {

namespace {

// 12 as ₁₂: no name in a program can have these digits.
std::string subscript(std::size_t number) {
  std::string text;
  for (char digit : std::to_string(number)) (text += "\xE2\x82") += static_cast<char>(0x80 + (digit - '0'));
  return text;
}

// [..4, ...]: an end that is the tensor's is left out, and what follows the last split axis is `...`.
std::string slice(const Box& box, const Shape& shape) {
  std::vector<std::string> axes;
  std::size_t shown = 0;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    Range r = box.dims[a];
    if (r != Range{0, shape[a]}) shown = a + 1;
    std::string lo = r.lo == 0 && !r.empty() ? "" : std::to_string(r.lo);
    std::string hi = r.hi == shape[a] && !r.empty() ? "" : std::to_string(r.hi);
    axes.push_back(lo + ".." + hi);
  }
  axes.resize(shown);
  if (shown < shape.size()) axes.push_back("...");
  return "[" + joined(axes) + "]";
}

bool before(const Box& a, const Box& b) {
  return std::lexicographical_compare(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
                                      [](Range x, Range y) { return x.lo < y.lo; });
}

// A piece of a value that some task makes, or some task reads of an input.
struct Shard {
  Box box;
  std::int64_t device = everywhere;
  std::string text;  // its name, or what computes it
};

// What comes from one call is one step: linear.sum and linear are the step linear.
std::string step_name(const Program& program, const Operation& operation) {
  std::string name = function_name(program, operation);
  return name.substr(0, name.find('.'));
}
std::vector<std::vector<OperationId>> steps_of(const Program& program, const Graph& inner) {
  std::vector<std::vector<OperationId>> steps;
  for (std::size_t o = 0; o < inner.operations.size(); ++o) {
    bool accumulates_into_result = !steps.empty() && step_name(program, inner.operations[o]) ==
                                                         step_name(program, inner[steps.back().back()]);
    if (!accumulates_into_result) steps.emplace_back();
    steps.back().push_back(OperationId(o));
  }
  return steps;
}

class ShardWriter {
 public:
  ShardWriter(const Program& program, const BlockGraph& blocks, const ShardNotation& notation)
      : program_(program),
        blocks_(one_by_one(blocks)),
        notation_(notation),
        graph_(program[blocks.graph]),
        names_(value_names(graph_)),
        shards_(graph_.values.size()),
        whole_(graph_.values.size(), false) {}

  std::string run() {
    for (ValueId v : graph_.inputs) is_input_.insert(v);
    find_shards();
    for (const Task& task : blocks_.tasks) std::visit([this](const auto& t) { write(t); }, task);
    for (ValueId v : graph_.outputs) whole_[v.index()] = true;
    return input_shards() + finish();
  }

 private:
  struct Line {
    std::string text;
    std::vector<ValueId> written;
  };

  const Shape& shape(ValueId v) const { return graph_[v].type.shape; }
  bool named(ValueId v) const { return !notation_.unnamed.count(v); }

  // Every piece that is made, in order; a value that one task writes whole has none.
  void find_shards() {
    for (const Task& task : blocks_.tasks)
      if (const auto* a = std::get_if<Application>(&task)) {
        for (std::uint32_t k = 0; k < a->results.size(); ++k) made(blocks_[a->results[k].id], result_box(*a, k));
      } else {
        const Move& move = std::get<Move>(task);
        made(blocks_[move.to.id], move.box);
      }
    for (std::size_t v = 0; v < shards_.size(); ++v) {
      std::vector<Shard>& all = shards_[v];
      if (all.size() == 1 && all[0].box == Box::of_shape(shape(ValueId(v)))) all.clear();
      for (std::size_t n = 0; n < all.size(); ++n) all[n].text = names_[v] + subscript(n + 1);
    }
  }
  void made(const Held& held, const Box& box) { shards_[held.value.index()].push_back({box, held.device, {}}); }

  bool opaque(const Operator& op) const { return op.region() && op.region()->kind != RegionKind::group; }
  Box result_box(const Application& a, std::uint32_t k) const {
    const Operator& op = program_[graph_[a.operation].op];
    return opaque(op) ? Box::of_shape(op.results[k].shape) : written_region(op, k, a.box);
  }
  Box operand_box(const Application& a, std::uint32_t k) const {
    const Operator& op = program_[graph_[a.operation].op];
    return opaque(op) ? Box::of_shape(op.operands[k].shape) : read_region(op, k, a.box);
  }

  Shard* find(ValueId v, const Box& box, std::int64_t device) {
    for (Shard& shard : shards_[v.index()])
      if (shard.box == box && (shard.device == device || shard.device == everywhere)) return &shard;
    return nullptr;
  }

  // What a task on a device reads there: a shard, or a part of the whole.
  std::string read(ValueId v, const Box& box, std::int64_t device) {
    if (const Shard* shard = find(v, box, device)) return shard->text;
    if (box == Box::of_shape(shape(v))) {
      whole_[v.index()] = true;
      return names_[v.index()];
    }
    if (!is_input_.count(v) || !named(v)) {
      whole_[v.index()] = true;
      return names_[v.index()] + slice(box, shape(v));
    }
    std::vector<Shard>& all = shards_[v.index()];
    all.push_back({box, everywhere, names_[v.index()] + subscript(all.size() + 1)});
    return all.back().text;
  }

  void write(const Application& a) {
    const Operation& operation = graph_[a.operation];
    std::vector<std::string> arguments;
    for (std::uint32_t k = 0; k < a.operands.size(); ++k)
      arguments.push_back(read(operation.operands[k], operand_box(a, k), a.device));
    std::string value = call(operation, arguments);
    std::vector<std::string> results;
    Line line;
    for (std::uint32_t k = 0; k < a.results.size(); ++k) {
      ValueId v = operation.results[k];
      line.written.push_back(v);
      Shard* shard = find(v, result_box(a, k), a.device);
      if (shard && !named(v) && a.results.size() == 1) shard->text = value;
      else results.push_back(shard ? shard->text : names_[v.index()]);
    }
    if (!results.empty()) line.text = joined(results) + " = " + value + device_suffix(a.device);
    lines_.push_back(std::move(line));
  }

  void write(const Move& m) {
    const Held& to = blocks_[m.to.id];
    const Held& from = blocks_[m.from.id];
    std::string source = read(from.value, m.box, from.device);
    const Shard* shard = find(to.value, m.box, to.device);
    std::string text = fmt::format("{} = {}", shard ? shard->text : names_[to.value.index()], source);
    if (from.device != to.device) text += fmt::format("    from {} to {}", device(from.device), device(to.device));
    else text += device_suffix(to.device);
    lines_.push_back({std::move(text), {to.value}});
  }

  static std::string device(std::int64_t number) {
    return number == everywhere ? "everywhere" : fmt::format("device {}", number);
  }
  static std::string device_suffix(std::int64_t number) {
    return number == everywhere ? "" : fmt::format("    on device {}", number);
  }

  std::string call(const Operation& operation, const std::vector<std::string>& arguments) const {
    if (notation_.open_groups)
      if (auto nested = nested_call(operation, arguments)) return *nested;
    return function_name(program_, operation) + "(" + joined(arguments) + ")";
  }

  // relu(linear(X₁, W, b)): where what each step gives goes to one other step.
  std::optional<std::string> nested_call(const Operation& operation, const std::vector<std::string>& arguments) const {
    const RegionBody* region = program_[operation.op].region();
    if (!region || region->kind != RegionKind::group) return std::nullopt;
    const Graph& inner = program_[region->graph];
    std::vector<std::size_t> uses(inner.values.size(), 0);
    std::vector<std::string> text(inner.values.size());
    for (std::size_t k = 0; k < inner.inputs.size(); ++k) text[inner.inputs[k].index()] = arguments[k];
    for (ValueId v : inner.outputs) ++uses[v.index()];
    std::vector<bool> is_input(inner.values.size(), false);
    for (ValueId v : inner.inputs) is_input[v.index()] = true;
    for (const std::vector<OperationId>& step : steps_of(program_, inner)) {
      std::set<ValueId> made, needed;  // needed in the order of the values: inputs come first
      for (OperationId o : step) {
        if (inner[o].results.size() != 1) return std::nullopt;
        for (ValueId v : inner[o].operands)
          if (!made.count(v)) needed.insert(v);
        made.insert(inner[o].results[0]);
      }
      ValueId result = inner[step.back()].results[0];
      std::vector<std::string> inside, outside;
      for (ValueId v : needed) {
        if (!is_input[v.index()] && ++uses[v.index()] > 1) return std::nullopt;
        (is_input[v.index()] ? outside : inside).push_back(text[v.index()]);
      }
      inside.insert(inside.end(), outside.begin(), outside.end());
      text[result.index()] = step_name(program_, inner[step.back()]) + "(" + joined(inside) + ")";
    }
    if (inner.outputs.size() != 1 || uses[inner.outputs[0].index()] != 1) return std::nullopt;
    return text[inner.outputs[0].index()];
  }

  std::string input_shards() const {
    std::string text;
    for (ValueId v : graph_.inputs)
      for (const Shard& shard : shards_[v.index()])
        text += fmt::format("{} = {}{}\n", shard.text, names_[v.index()], slice(shard.box, shape(v)));
    return text;
  }

  // The lines, and after the last one that writes shards of a value that is wanted whole, how it consists of them.
  std::string finish() const {
    std::map<ValueId, std::size_t> last;
    for (std::size_t n = 0; n < lines_.size(); ++n)
      for (ValueId v : lines_[n].written) last[v] = n;
    std::string text;
    for (std::size_t n = 0; n < lines_.size(); ++n) {
      if (!lines_[n].text.empty()) text += lines_[n].text + "\n";
      for (ValueId v : lines_[n].written)
        if (last[v] == n && whole_[v.index()] && !shards_[v.index()].empty()) text += assembled(v);
    }
    return text;
  }

  // Z = (Z₁; Z₂) where rows follow each other, (Z₁, Z₂) where columns do; a piece a line where there is no such picture.
  std::string assembled(ValueId v) const {
    std::vector<const Shard*> parts;
    for (const Shard& shard : shards_[v.index()]) {
      bool again = std::any_of(parts.begin(), parts.end(), [&](const Shard* p) { return p->box == shard.box; });
      if (!again && !shard.box.empty()) parts.push_back(&shard);
    }
    std::stable_sort(parts.begin(), parts.end(), [](const Shard* a, const Shard* b) { return before(a->box, b->box); });
    const std::string& name = names_[v.index()];
    if (auto rows = as_rows(parts, shape(v).size())) {
      // Named shards on one line; what computes them each on a line of its own, under each other.
      std::string indent(named(v) ? 0 : name.size() + 4, ' ');
      return fmt::format("{} = ({})\n", name, joined(*rows, named(v) ? "; " : ";\n" + indent));
    }
    std::string text;
    for (const Shard* part : parts) text += fmt::format("{}{} = {}\n", name, slice(part->box, shape(v)), part->text);
    return text;
  }

  // Pieces that differ along one or two axes, as rows of columns. Pre: sorted.
  static std::optional<std::vector<std::string>> as_rows(const std::vector<const Shard*>& parts, std::size_t rank) {
    std::vector<std::size_t> split_axes;
    for (std::size_t a = 0; a < rank; ++a)
      for (const Shard* part : parts)
        if (part->box.dims[a] != parts[0]->box.dims[a]) {
          split_axes.push_back(a);
          break;
        }
    if (split_axes.size() > 2) return std::nullopt;
    bool columns = split_axes.size() == 1 && rank > 1 && split_axes[0] + 1 == rank;
    std::vector<std::string> rows;
    std::vector<std::vector<Range>> edges;  // of the columns of each row
    for (std::size_t n = 0; n < parts.size(); ++n) {
      const Shard* part = parts[n];
      bool same_row = n > 0 && (columns || (split_axes.size() == 2 &&
                                            part->box.dims[split_axes[0]] == parts[n - 1]->box.dims[split_axes[0]]));
      if (!same_row) {
        rows.push_back(part->text);
        edges.emplace_back();
      } else {
        rows.back() += ", " + part->text;
      }
      if (split_axes.size() == 2) edges.back().push_back(part->box.dims[split_axes[1]]);
    }
    bool grid = std::all_of(edges.begin(), edges.end(), [&](const auto& e) { return e == edges[0]; });
    return grid ? std::optional(rows) : std::nullopt;
  }

  const Program& program_;
  const BlockGraph blocks_;
  const ShardNotation& notation_;
  const Graph& graph_;
  std::vector<std::string> names_;
  std::set<ValueId> is_input_;
  std::vector<std::vector<Shard>> shards_;  // by value, in the order in which they are made or read
  std::vector<bool> whole_;                 // by value: somebody needs it, or a part that is no shard
  std::vector<Line> lines_;
};

}  // namespace

std::string shards_as_text(const Program& program, const BlockGraph& blocks, const ShardNotation& notation) {
  return ShardWriter(program, blocks, notation).run();
}

std::string projections_as_text(const Operator& op, const std::optional<OperationNames>& names) {
  std::vector<std::string> dims, lines;
  for (std::size_t d = 0; d < op.dims.size(); ++d) dims.push_back("i_" + own_dim_name(op, names, d));
  auto add = [&](const std::string& tensor, const Projection& p) {
    std::vector<std::string> start, shape;
    for (const AffineExpr& row : p.start.rows) start.push_back(to_string(row, dims));
    for (std::int64_t extent : p.shape) shape.push_back(std::to_string(extent));
    std::string line =
        fmt::format("P_{}(i) = ZRange{{ start: [{}], shape: [{}] }}\n", tensor, joined(start), joined(shape));
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  };
  for (const Access& read : op.reads) add(operand_name(op, read.tensor), read.projection);
  for (const Access& write : op.writes) add(result_name(op, write.tensor), write.projection);
  return joined(lines, "");
}

std::string function_name(const Program& program, const Operation& operation) {
  const Operator& op = program[operation.op];
  if (!op.region() || op.region()->kind != RegionKind::group) return own_name(op, operation.names);
  const Graph& inner = program[op.region()->graph];
  std::vector<std::string> steps;
  for (const std::vector<OperationId>& step : steps_of(program, inner))
    steps.push_back(step_name(program, inner[step.back()]));
  return steps.size() == 1 ? steps[0] : "(" + joined(steps, " \u21D2 ") + ")";
}

}  // namespace tap::ir
