// The text form of a whole Program, which parses back to an equal one. One fact per line; `//` starts a comment,
// which the parser skips and which explains the line.
//
//   tap-ir 1
//   monoid 0 sum
//     component v f32
//     cell 0 = arg f32 0
//     …
//   operator 0 matmul
//     dim i 0..64 parallel
//     operand f32[64, 16] x
//     cell 0 = read f32 0
//     read 0 at [i, k] shape [1, 1]
//     write 0 at [i, o] shape [1, 1]
//     // y[i, o] = sum[k] x[i, k] * w[k, o]
//     reduce 0 (2)
//   graph 0 mlp
//     value 0 X f32[64, 16]
//     input 0
//     do 0 (0, 1) -> (2)
//   main 0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text.h"
#include "ir/text/print_cell.h"
#include "ir/text/text_tables.h"
#include "ir/text_names.h"

namespace tap::ir {
namespace {

using words::text_of;

template <class List, class Show>
std::string listed(const List& list, Show show) {
  std::vector<std::string> parts;
  for (const auto& element : list) parts.push_back(show(element));
  return joined(parts);
}

template <class Id>
std::string numbers(const std::vector<Id>& ids) {
  return listed(ids, [](Id id) { return std::to_string(id.index()); });
}

std::string integers(const std::vector<std::int64_t>& list) {
  return listed(list, [](std::int64_t n) { return std::to_string(n); });
}

class ProgramPrinter {
 public:
  explicit ProgramPrinter(const Program& program) : program_(program) {}

  std::string run() {
    line("tap-ir 1");
    for (const Mesh& mesh : program_.meshes) print(mesh);
    for (const RewriteRule& rule : program_.rewrites) line("rewrite {}", quoted(rule.text));
    for (std::size_t i = 0; i < program_.monoids.size(); ++i) {
      line("monoid {} {}", i, written_name(program_.monoids[i].name));
      print(program_.monoids[i]);
    }
    for (std::size_t i = 0; i < program_.operators.size(); ++i) {
      line("operator {} {}", i, written_name(program_.operators[i].name));
      print(program_.operators[i]);
    }
    for (std::size_t i = 0; i < program_.graphs.size(); ++i) {
      line("graph {} {}", i, written_name(program_.graphs[i].name));
      print(program_.graphs[i]);
    }
    if (program_.main.valid()) line("main {}", program_.main.index());
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void comment(std::string_view text) {
    text_ += "  // ";
    for (char c : text) text_ += c == '\n' ? ' ' : c;
    text_ += '\n';
  }

  void print(const Mesh& mesh) {
    std::string axes =
        listed(mesh.axes, [](const MeshAxis& a) { return fmt::format("{}: {}", written_name(a.name), a.size); });
    std::string devices = mesh.devices.empty() ? "" : " devices [" + integers(mesh.devices) + "]";
    line("mesh {} [{}]{}", written_name(mesh.name), axes, devices);
  }

  void print(const CellExprs& exprs) {
    for (std::size_t i = 0; i < exprs.size(); ++i) line("  {}", cell_line(exprs, CellId(i)));
  }

  void print(const Monoid& monoid) {
    for (const MonoidComponent& c : monoid.components) line("  component {} {}", written_name(c.name), name_of(c.type));
    print(monoid.exprs);
    line("  identity ({})", numbers(monoid.identity));
    line("  combine ({})", numbers(monoid.combine));
    const MonoidLaws& laws = monoid.laws;
    line("  laws associative {} identity {} commutative {} fold {}", text_of(words::laws, laws.associative),
         text_of(words::laws, laws.identity), text_of(words::laws, laws.commutative), text_of(words::laws, laws.fold));
    if (!monoid.fold) return;
    line("  fold");
    print(monoid.fold->exprs);
    line("  gives ({})", numbers(monoid.fold->roots));
  }

  void print(const Operator& op) {
    names_ = variable_names(op);
    for (const IndexDim& dim : op.dims) {
      std::string level = dim.level ? fmt::format(" level {}", dim.level) : "";
      line("  dim {} {} {}{}{}", written_name(dim.name), to_string(dim.range), text_of(words::roles, dim.role),
           dim.keep ? " keep" : "", level);
    }
    for (const Constraint& c : op.constraints) line("  where {}", to_string(c, names_));
    for (const Blocking& b : op.blockings) line("  block {} by {} into {}", b.dim, b.block_dim, to_string(b.blocks));
    for (const TensorType& type : op.operands) line("  operand {}", to_string(type));
    for (const TensorType& type : op.results) line("  result {}", to_string(type));
    auto name = [](const std::string& n) { return written_name(n); };
    if (!op.operand_names.empty()) line("  operands named ({})", listed(op.operand_names, name));
    if (!op.result_names.empty()) line("  results named ({})", listed(op.result_names, name));
    print(op.exprs);
    for (const Access& access : op.reads) line("  read {}", written(access));
    for (const Access& access : op.writes) line("  write {}", written(access));
    explain(op);
    std::visit([this](const auto& body) { print(body); }, op.body);
  }

  // at [i, k] shape [1, 4] by [_, 3] else 2 invariant [0]
  std::string written(const Access& access) const {
    std::string rows =
        listed(access.projection.start.rows, [this](const AffineExpr& e) { return to_string(e, names_); });
    std::string text = fmt::format("{} at [{}] shape [{}]", access.tensor, rows, integers(access.projection.shape));
    auto coordinate = [](const std::optional<CellId>& c) { return c ? fmt::format("{}", c->index()) : "_"; };
    if (!access.coordinates.empty()) text += " by [" + listed(access.coordinates, coordinate) + "]";
    if (access.fill) text += fmt::format(" else {}", access.fill->index());
    if (!access.invariant_dims.empty())
      text +=
          " invariant [" + listed(access.invariant_dims, [](std::uint32_t d) { return fmt::format("{}", d); }) + "]";
    return text;
  }

  // Prints the body's computation in a comment before it, since readers look for that.
  void explain(const Operator& op) {
    const std::vector<CellId>* cells = op.map() ? &op.map()->values : op.reduce() ? &op.reduce()->operands : nullptr;
    if (!cells) return;
    for (std::size_t k = 0; k < cells->size(); ++k) comment(fmt::format("{}: {}", k, print_cell(op, (*cells)[k])));
  }

  void print(const MapBody& map) { line("  map ({})", numbers(map.values)); }
  void print(const ReduceBody& reduce) { line("  reduce {} ({})", reduce.monoid.index(), numbers(reduce.operands)); }
  void print(const KernelBody& kernel) {
    std::string flops = kernel.flops ? fmt::format(" flops {}", *kernel.flops) : "";
    std::string by = kernel.reduced_by ? fmt::format(" by {}", kernel.reduced_by->index()) : "";
    line("  kernel {}{}{}", quoted(kernel.symbol), flops, by);
  }
  void print(const TransferBody&) { line("  transfer"); }
  void print(const RegionBody& region) {
    std::string more;
    if (!region.anchors.empty())
      more += " anchors [" +
              listed(region.anchors,
                     [](const GroupAnchor& a) { return fmt::format("{} at {}.{}", a.dim, a.operation, a.inner_dim); }) +
              "]";
    if (!region.alternatives.empty())
      more += " or [" +
              listed(region.alternatives,
                     [](const Alternative& a) { return fmt::format("{} {}", a.graph.index(), quoted(a.rule)); }) +
              "]";
    line("  region {} {} {}{}", text_of(words::regions, region.kind), region.graph.index(), to_string(region.trips),
         more);
  }

  void print(const Graph& graph) {
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      const Value& value = graph.values[v];
      line("  value {} {} {}{}{}", v, written_name(value.name), to_string(value.type), value.is_const ? " const" : "",
           value.sharding ? " @ " + to_string(program_.meshes, *value.sharding) : "");
    }
    line("  inputs ({})", numbers(graph.inputs));
    line("  outputs ({})", numbers(graph.outputs));
    for (const Operation& operation : graph.operations) print(graph, operation);
    for (const ShardingGroup& group : graph.groups) line("  group ({})", numbers(group.values));
    for (const Barrier& barrier : graph.barriers)
      line("  barrier {} {}", barrier.value.index(), text_of(words::barriers, barrier.kind));
    for (const SplitRequest& split : graph.splits) print(split);
  }

  void print(const Graph& graph, const Operation& operation) {
    auto sharding = [&](const std::optional<Sharding>& s) { return s ? to_string(program_.meshes, *s) : "_"; };
    std::string used =
        operation.operand_shardings.empty() ? "" : " used [" + listed(operation.operand_shardings, sharding) + "]";
    if (!operation.placements.empty())
      used += " placed [" + listed(operation.placements, [&](auto& p) { return placed(p); }) + "]";
    auto name = [&](ValueId v) { return v.index() < graph.values.size() ? graph[v].name : "?"; };
    std::string meaning = fmt::format(
        "{} = {}({})", listed(operation.results, name),
        operation.op.index() < program_.operators.size() ? own_name(program_[operation.op], operation.names) : "?",
        listed(operation.operands, name));
    for (char& c : meaning) c = c == '\n' ? ' ' : c;
    std::string named;
    if (operation.names)
      named = fmt::format(" named {} [{}]", written_name(operation.names->name),
                          listed(operation.names->dims, [](const std::string& n) { return written_name(n); }));
    line("  do {} ({}) -> ({}){}{}  // {}", operation.op.index(), numbers(operation.operands),
         numbers(operation.results), used, named, meaning);
  }

  // 2 over axis pod.data    3 over devices [[0, 1], [2]]    all at 1 over axis pod.data
  std::string placed(const BlockPlacement& p) const {
    std::string text = p.dim == whole_operation ? fmt::format("all at {}", p.number) : fmt::format("{}", p.dim);
    text += fmt::format(" over {}", text_of(words::placements, p.placement));
    if (p.axis) text += " " + mesh_axis(p.mesh, *p.axis);
    if (p.placement == Placement::devices)
      text += " [" + listed(p.devices, [](const auto& set) { return fmt::format("[{}]", fmt::join(set, ", ")); }) + "]";
    return text;
  }

  void print(const SplitRequest& split) {
    std::string where;
    if (split.value) where += fmt::format(" value {}", split.value->index());
    if (split.value || split.axis != 0) where += fmt::format(" axis {}", split.axis);
    if (!split.value || !split.dim.empty()) where += " dim " + written_name(split.dim);
    line("  split {}{} into [{}] over {}{}", split.operation.index(), where,
         listed(split.blocks, [](Range block) { return to_string(block); }),
         text_of(words::placements, split.placement), on_axis(split));
  }

  // pod.data
  std::string mesh_axis(MeshId id, const AxisRef& axis) const {
    const Mesh none{"?", {}, {}};
    const Mesh& mesh = id.index() < program_.meshes.size() ? program_[id] : none;
    return written_name(mesh.name) + "." + to_string(mesh, axis);
  }

  // The axis alone if its name is unique among the meshes.
  std::string on_axis(const SplitRequest& split) const {
    if (!split.mesh_axis) return "";
    std::string full = mesh_axis(split.mesh, *split.mesh_axis);
    if (split.mesh.index() >= program_.meshes.size()) return " on " + full;
    const AxisName axis = named(program_[split.mesh], *split.mesh_axis);
    return " on " + (sole_mesh_with(program_.meshes, axis.name) ? to_string(axis) : full);
  }

  const Program& program_;
  std::string text_;
  std::vector<std::string> names_;  // of the current operator's dims
};

}  // namespace

std::string cell_line(const CellExprs& exprs, CellId id) {
  const CellNode& node = exprs[id];
  std::string rest;
  if (node.op == CellOp::constant) rest = " " + to_string(node.value);
  else if (info(node.op).kind == CellKind::leaf || node.op == CellOp::reduce) rest = fmt::format(" {}", node.attribute);
  if (!node.args.empty()) rest += " (" + numbers(node.args) + ")";
  return fmt::format("cell {} = {} {}{}", id.index(), info(node.op).name, name_of(node.type), rest);
}

std::string print(const Program& program) { return ProgramPrinter(program).run(); }

}  // namespace tap::ir
