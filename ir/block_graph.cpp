#include "ir/block_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"
#include "ir/text_names.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::ir {

std::vector<Range> ceil_blocks(Range range, std::int64_t count) {
  std::vector<Range> blocks;
  for (std::int64_t b = 0; b < count; ++b) blocks.push_back(Blocks{count}.block(range, b));
  return blocks;
}

std::vector<std::uint32_t> application_dims(const Operator& op, const Operation& operation) {
  std::vector<std::uint32_t> dims;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    if (op.dims[d].role != DimRole::parallel) continue;
    bool placed = std::any_of(operation.placements.begin(), operation.placements.end(),
                              [d](const BlockPlacement& p) { return p.dim == d; });
    if (placed || is_block_dim(op, d)) dims.push_back(d);
  }
  return dims;
}

std::vector<Box> application_boxes(const Operator& op, const std::vector<std::uint32_t>& dims, const Box& within) {
  Box numbers;
  for (std::uint32_t d : dims) numbers.dims.push_back(within.dims[d]);
  std::vector<Box> boxes;
  auto at = first_point(numbers);
  for (bool more = at.has_value(); more; more = next_point(numbers, *at)) {
    Box box = within;
    for (std::size_t k = 0; k < dims.size(); ++k) box.dims[dims[k]] = {(*at)[k], (*at)[k] + 1};
    boxes.push_back(narrowed(op, std::move(box)));
  }
  return boxes;
}

namespace {

// Whether the box is empty of work. An empty reduction still writes its identity, and so does an outside kernel's.
bool is_idle(const Operator& op, const Box& box) {
  if (!op.kernel()) return box.empty() && !op.reduce();
  for (std::size_t d = 0; d < box.rank(); ++d)
    if (op.dims[d].role == DimRole::parallel && box.dims[d].empty()) return true;
  return false;
}

// Splits by the dims from the `k`th on, one block after another.
std::vector<Task> applied(const Operator& op, const std::vector<std::uint32_t>& dims, std::size_t k, Application task) {
  if (k == dims.size()) {
    task.box = narrowed(op, std::move(task.box));
    if (is_idle(op, task.box)) return {};
    return {std::move(task)};
  }
  std::vector<std::vector<Task>> lists;
  const Range numbers = task.box.dims[dims[k]];
  for (std::int64_t n = numbers.lo; n < numbers.hi; ++n) {
    task.box.dims[dims[k]] = {n, n + 1};
    lists.push_back(applied(op, dims, k + 1, task));
  }
  return in_rows_across(std::move(lists));
}

}  // namespace

std::vector<Task> applications(const Operator& op, const Operation& operation, Application all) {
  return applied(op, application_dims(op, operation), 0, std::move(all));
}

std::vector<Task> one_by_one(const std::vector<Task>& tasks) {
  std::vector<Task> all;
  for (const Task& task : tasks)
    for (Task& one : members(task)) all.push_back(std::move(one));
  return all;
}

namespace {

class EachDevice {
 public:
  explicit EachDevice(const BlockGraph& rows) : rows_(rows), all_{rows.graph} {}

  BlockGraph run() {
    for (const Held& held : rows_.held) {
      begins_.push_back(all_.held.size());
      for (Held& one : members(held)) {
        one.device = rows_.device_at(one.device);
        all_.held.push_back(std::move(one));
      }
    }
    for (const Task& task : rows_.tasks)
      for (Task& one : unroll_across(task)) {
        std::visit([this](auto& what) { alone(what); }, one);
        all_.tasks.push_back(std::move(one));
      }
    // For each operation, the tasks of the first device, then those of the next.
    for (auto first = all_.tasks.begin(); first != all_.tasks.end();) {
      auto next = std::find_if(first, all_.tasks.end(),
                               [o = operation_of(*first)](const Task& t) { return operation_of(t) != o; });
      std::stable_sort(first, next, [this](const Task& a, const Task& b) { return device_of(a) < device_of(b); });
      first = next;
    }
    all_.inputs = each_of(rows_.inputs);
    for (const std::vector<HeldId>& holders : rows_.outputs) all_.outputs.push_back(each_of(holders));
    return std::move(all_);
  }

 private:
  std::int64_t device_of(const Task& task) const {
    const auto* a = std::get_if<Application>(&task);
    return a ? a->device : all_[std::get<Move>(task).to.id].device;
  }
  void alone(HeldMember& m) const { m = HeldId(begins_[m.id.index()] + static_cast<std::size_t>(m.number)); }
  void alone(Move& move) const { alone(move.from), alone(move.to); }
  void alone(Application& task) const {
    task.device = rows_.device_at(task.device);
    for (auto* list : {&task.operands, &task.results})
      for (HeldMember& m : *list) alone(m);
  }
  std::vector<HeldId> each_of(const std::vector<HeldId>& rows) const {
    std::vector<HeldId> ids;
    for (HeldId row : rows)
      for (std::int64_t n = 0; n < count_of(rows_[row].row); ++n)
        ids.emplace_back(begins_[row.index()] + static_cast<std::size_t>(n));
    return ids;
  }

  const BlockGraph& rows_;
  BlockGraph all_;
  std::vector<std::size_t> begins_;  // start of the members of each
};

}  // namespace

BlockGraph by_device(const BlockGraph& blocks) { return EachDevice(blocks).run(); }

BlockGraph one_by_one(const BlockGraph& blocks) {
  BlockGraph all = by_device(blocks);
  all.tasks = one_by_one(all.tasks);
  return all;
}

Box box_to_run(const Operator& op, Box box) {
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction && is_block_dim(op, d))
      box.dims[d] = box.dims[d].empty() ? Range{0, 0} : Range{0, 1};
  return box;
}

namespace {

Box touched(const std::vector<Access>& accesses, std::uint32_t tensor, const Shape& shape, const Box& box) {
  Box whole = Box::of_shape(shape), result = whole;
  for (Range& r : result.dims) r = {0, 0};
  bool first = true;
  for (const Access& access : accesses) {
    if (access.tensor != tensor) continue;
    Box part = intersect(access.projection.bounds(box), whole);
    result = first ? part : hull(result, part);
    first = false;
  }
  return result;
}

}  // namespace

Box read_region(const Operator& op, std::uint32_t operand, const Box& box) {
  return touched(op.reads, operand, op.operands[operand].shape, box);
}

std::vector<Box> read_pieces(const Operator& op, std::uint32_t operand, const Box& box) {
  const Box all = read_region(op, operand, box), whole = Box::of_shape(op.operands[operand].shape);
  if (all.empty()) return {};
  std::vector<Box> pieces;
  std::int64_t cells = 0;
  for (const Access& access : op.reads) {
    if (access.tensor != operand) continue;
    std::vector<Box> fresh{intersect(access.projection.bounds(box), whole)};
    for (std::size_t known = 0, count = pieces.size(); known < count; ++known) {
      std::vector<Box> rest;
      for (const Box& part : fresh)
        for (Box& piece : subtract(part, pieces[known])) rest.push_back(std::move(piece));
      fresh = std::move(rest);
    }
    for (Box& piece : fresh) {
      cells = checked::add(cells, piece.size());
      if (!piece.empty()) pieces.push_back(std::move(piece));
    }
  }
  return cells <= all.size() / 2 ? pieces : std::vector<Box>{all};
}

Box written_region(const Operator& op, std::uint32_t result, Box box) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction && !op.transfer()) box.dims[d] = {0, 1};
  return touched(op.writes, result, op.results[result].shape, box);
}

namespace {

std::string device_name(std::int64_t device) {
  return device == everywhere ? "everywhere" : fmt::format("device {}", device);
}

std::string on_one_line(std::string name) {
  std::replace(name.begin(), name.end(), '\n', ' ');
  return name;
}

// A line for each task.
class BlockPrinter {
 public:
  BlockPrinter(const Program& program, const BlockGraph& blocks)
      : program_(program), blocks_(blocks), graph_(program[blocks.graph]), names_(value_names(graph_)) {
    for (std::string& name : names_) name = on_one_line(std::move(name));
  }

  std::string run() const {
    std::string out = fmt::format("block graph {}\n", on_one_line(graph_.name));
    for (const Task& task : blocks_.tasks) out += std::visit([this](const auto& t) { return line(t); }, task) + "\n";
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k)
      out += fmt::format("  output {} = {}\n", names_[graph_.outputs[k].index()], holders(blocks_.outputs[k]));
    return out;
  }

 private:
  // Z[0..2, 0..4]@1
  std::string show(const Held& held, const Box& box) const {
    return names_[held.value.index()] + to_string(box) +
           (held.device == everywhere ? "" : fmt::format("@{}", blocks_.device_at(held.device)));
  }
  std::string show(HeldMember one, const Box& box) const { return show(blocks_[one], box); }
  std::string holders(const std::vector<HeldId>& ids) const {
    std::vector<std::string> parts;
    for (HeldId id : ids) parts.push_back(show(HeldMember(id), blocks_[id].box) + times(blocks_[id]));
    return joined(parts);
  }
  // Repetitions of a task or a held box, and along what.
  template <class T>
  static std::string times(T first, const std::vector<std::string>& dims = {}) {
    std::string text;
    for (const Level& level : row_of(first)) {
      std::vector<std::string> along;
      for (std::size_t d = 0; d < dims.size(); ++d)
        if (level.steps[d] != 0) along.push_back(dims[d]);
      if (is_across(level, numbers_of(first).rank())) text += fmt::format(", on {} devices", level.count);
      else text += fmt::format(", {} times along {}", level.count, joined(along));
    }
    return text;
  }

  std::string line(const Application& a) const {
    const Operator& op = program_[graph_[a.operation].op];
    bool whole = op.region() && op.region()->kind != RegionKind::group;
    std::vector<std::string> operands, results, dims;
    for (std::uint32_t k = 0; k < a.operands.size(); ++k) {
      const Held held = blocks_[a.operands[k]];
      operands.push_back(show(held, whole ? held.box : read_region(op, k, a.box)));
    }
    for (std::uint32_t k = 0; k < a.results.size(); ++k) {
      const Held held = blocks_[a.results[k]];
      results.push_back(show(held, whole ? held.box : written_region(op, k, a.box)));
    }
    for (const IndexDim& dim : op.dims) dims.push_back(on_one_line(dim.name));
    return fmt::format("  {}: {} = {}({}) on {}{}", device_name(blocks_.device_at(a.device)), joined(results),
                       on_one_line(own_name(op, graph_[a.operation].names)), joined(operands), to_string(a.box),
                       times(a, dims));
  }

  std::string line(const Move& m) const {
    const std::string& name = own_name(program_[graph_[m.operation].op], graph_[m.operation].names);
    return fmt::format("  {} {} = {}{}", name == "transfer" ? "move" : name, show(m.to, m.box), show(m.from, m.box),
                       times(m));
  }

  const Program& program_;
  const BlockGraph& blocks_;
  const Graph& graph_;
  std::vector<std::string> names_;
};

}  // namespace

std::string print(const Program& program, const BlockGraph& graph) {
  return BlockPrinter(program, by_device(graph)).run();
}
std::string print_in_rows(const Program& program, const BlockGraph& graph) {
  return BlockPrinter(program, graph).run();
}

}  // namespace tap::ir
