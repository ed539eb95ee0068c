#include <algorithm>
#include <functional>

#include "ir/graph.h"
#include "ir/text/text_tables.h"
#include "ir/verify/verify_parts.h"

namespace tap::ir::verifying {
namespace {

class GraphVerifier {
 public:
  GraphVerifier(Violations& out, const Program& program, const Graph& graph, const std::vector<bool>& sound)
      : out_(out),
        program_(program),
        graph_(graph),
        sound_(sound),
        writers_left_(graph.values.size(), 0),
        written_(graph.values.size(), false),
        is_input_(graph.values.size(), false) {}

  void run() {
    if (!ids()) return;
    values();
    signature();
    for (const Operation& operation : graph_.operations)
      for (ValueId v : operation.results) ++writers_left_[v.index()];
    for (std::size_t v = 0; v < graph_.values.size(); ++v) {
      written_[v] = writers_left_[v] != 0;
      if (is_input_[v]) out_.expect(!written_[v], "{} is an input and is written", name(ValueId(v)));
      else out_.expect(written_[v], "{} has no writer", name(ValueId(v)));
    }
    for (std::size_t i = 0; i < graph_.operations.size(); ++i) operation(i);
    for (std::size_t k = 0; k < graph_.splits.size(); ++k) split(graph_.splits[k], k);
  }

 private:
  std::string name(ValueId id) const { return fmt::format("value {} ({})", id.index(), graph_[id].name); }

  bool ids() {
    std::size_t before = out_.count();
    auto all = [this](const std::vector<ValueId>& list, std::string_view what) {
      for (ValueId v : list)
        if (!valid(v, graph_.values)) out_.expect(false, "{} name a value that does not exist", what);
    };
    all(graph_.inputs, "the inputs");
    all(graph_.outputs, "the outputs");
    for (const Operation& operation : graph_.operations) {
      all(operation.operands, "an operation's operands");
      all(operation.results, "an operation's results");
      out_.expect(valid(operation.op, program_.operators), "an operation's operator is not in the table");
    }
    for (const ShardingGroup& group : graph_.groups) all(group.values, "a group's members");
    for (const Barrier& barrier : graph_.barriers) all({barrier.value}, "the barriers");
    for (const SplitRequest& split : graph_.splits) {
      out_.expect(valid(split.operation, graph_.operations), "a split names an operation that does not exist");
      if (split.value) all({*split.value}, "the splits");
    }
    return out_.count() == before;
  }

  void values() {
    for (std::size_t v = 0; v < graph_.values.size(); ++v) {
      const Value& value = graph_.values[v];
      bool negative =
          std::any_of(value.type.shape.begin(), value.type.shape.end(), [](std::int64_t n) { return n < 0; });
      out_.expect(!negative, "{} has a negative size: {}", name(ValueId(v)), to_string(value.type));
      if (value.sharding) {
        Violations::Scope at(out_, "{}", name(ValueId(v)));
        verify_sharding(out_, program_, *value.sharding, value.type.shape.size());
      }
    }
  }

  void signature() {
    for (ValueId v : graph_.inputs) {
      out_.expect(!is_input_[v.index()], "{} is an input twice", name(v));
      is_input_[v.index()] = true;
    }
    for (std::size_t v = 0; v < graph_.values.size(); ++v)
      out_.expect(!graph_.values[v].is_const || is_input_[v], "{} is const, but not an input", name(ValueId(v)));
  }

  // In order: all writers of its operands must precede it.
  void operation(std::size_t number) {
    const Operation& operation = graph_.operations[number];
    const Operator& op = program_[operation.op];
    Violations::Scope at(out_, "operation {} ({})", number, own_name(op, operation.names));
    if (operation.names)
      out_.expect(operation.names->dims.size() == op.dims.size(), "{} names for {} dims", operation.names->dims.size(),
                  op.dims.size());
    for (ValueId v : operation.operands)
      out_.expect(writers_left_[v.index()] == 0, "{} is read before it is written", name(v));
    types(operation.operands, op.operands, "operand");
    types(operation.results, op.results, "result");
    for (std::size_t a = 0; a < operation.results.size(); ++a) {
      --writers_left_[operation.results[a].index()];
      for (std::size_t b = 0; b < a; ++b)
        out_.expect(operation.results[a] != operation.results[b], "{} is result {} and result {}",
                    name(operation.results[a]), b, a);
    }
    for (const BlockPlacement& p : operation.placements) placement(p, op);
    if (operation.operand_shardings.empty()) return;
    if (!out_.expect(operation.operand_shardings.size() == operation.operands.size(), "{} shardings for {} operands",
                     operation.operand_shardings.size(), operation.operands.size()))
      return;
    for (std::size_t k = 0; k < operation.operands.size(); ++k)
      if (const auto& sharding = operation.operand_shardings[k]) {
        Violations::Scope use(out_, "operand {}", k);
        verify_sharding(out_, program_, *sharding, graph_[operation.operands[k]].type.shape.size());
      }
  }

  void placement(const BlockPlacement& p, const Operator& op) {
    // A block dim, or a dim that numbers partials: a combination in parts has no block dim.
    if (p.dim == whole_operation) out_.expect(on_devices(p), "the whole operation is placed, but on no devices");
    else
      out_.expect(p.dim < op.dims.size() && op.dims[p.dim].role == DimRole::parallel,
                  "dim {} is placed, but not parallel", p.dim);
    out_.expect((p.placement == Placement::mesh_axis) == p.axis.has_value(), "dim {} is placed on an unnamed axis",
                p.dim);
    if (p.axis)
      out_.expect(declared(p.mesh, *p.axis), "dim {} is placed on axis {} of mesh {}, which is not declared", p.dim,
                  p.axis->id.index(), p.mesh.index());
    out_.expect((p.placement == Placement::devices) != p.devices.empty(), "dim {} is placed on unlisted devices",
                p.dim);
    for (const std::vector<std::int64_t>& set : p.devices) {
      if (!out_.expect(!set.empty(), "dim {} is placed on an empty list of devices", p.dim)) continue;
      out_.expect(std::ranges::adjacent_find(set, std::greater_equal{}) == set.end(),
                  "dim {} is placed on devices that are not in increasing order", p.dim);
      for (std::int64_t device : {set.front(), set.back()})
        out_.expect(device >= 0 && device <= most_devices, "dim {} is placed on device {}, which is outside 0..{}",
                    p.dim, device, most_devices);
    }
  }

  void types(const std::vector<ValueId>& values, const std::vector<TensorType>& types, std::string_view what) {
    if (!out_.expect(values.size() == types.size(), "{} {}s, but its operator has {}", values.size(), what,
                     types.size()))
      return;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const TensorType& found = graph_[values[k]].type;
      if (found != types[k])
        out_.expect(false, "{} {} is {}, but {} in its operator", what, k, to_string(found), to_string(types[k]));
    }
  }

  void split(const SplitRequest& split, std::size_t number) {
    Violations::Scope at(out_, "split {}", number);
    const Operation& operation = graph_[split.operation];
    if (!sound_[operation.op.index()]) return;
    std::optional<Range> range = split.value ? axis_range(operation, split) : dim_range(operation, split.dim);
    if (!range) return;
    std::int64_t reached = range->lo;
    bool tiles = true;
    for (Range block : split.blocks) {
      tiles &= block.lo == reached && block.lo <= block.hi;
      reached = block.hi;
    }
    out_.expect(tiles && reached == range->hi, "the blocks do not tile the range {}", to_string(*range));
    out_.expect((split.placement == Placement::mesh_axis) == split.mesh_axis.has_value(),
                "a placement must name an axis if and only if it is on a mesh axis");
    if (split.mesh_axis)
      out_.expect(declared(split.mesh, *split.mesh_axis), "the axis {} is not declared", split.mesh_axis->id.index());
  }

  std::optional<Range> axis_range(const Operation& operation, const SplitRequest& split) {
    bool written = std::find(operation.results.begin(), operation.results.end(), *split.value) !=
                   operation.results.end();
    if (!out_.expect(written, "it names a value that its operation does not write")) return std::nullopt;
    const Shape& shape = graph_[*split.value].type.shape;
    if (!out_.expect(split.axis < shape.size(), "axis {} of {}", split.axis, shape.size())) return std::nullopt;
    return Range{0, shape[split.axis]};
  }

  // For a call, the index dims of its inner operations; inner graphs are only checked if their operators are
  // well-formed.
  std::optional<Range> dim_range(const Operation& operation, const std::string& name) {
    const Operator& op = program_[operation.op];
    if (operation.names && operation.names->dims.size() != op.dims.size()) return std::nullopt;
    for (std::size_t d = 0; d < op.dims.size(); ++d) {
      const IndexDim& dim = op.dims[d];
      if (own_dim_name(op, operation.names, d) != name) continue;
      out_.expect(!dim.keep, "the dim {} must not be split", dim.name);
      out_.expect(dim.role != DimRole::counter, "the dim {} is a counter", dim.name);
      return dim.range;
    }
    if (!op.region()) out_.expect(false, "unknown dim {}", name);
    return std::nullopt;
  }

  bool declared(MeshId mesh, const AxisRef& axis) const {
    return valid(mesh, program_.meshes) && valid(axis.id, program_[mesh].axes);
  }

  Violations& out_;
  const Program& program_;
  const Graph& graph_;
  const std::vector<bool>& sound_;
  std::vector<std::size_t> writers_left_;  // by value, during the traversal
  std::vector<bool> written_;
  std::vector<bool> is_input_;
};

}  // namespace

void verify_graph(Violations& out, const Program& program, const Graph& graph, const std::vector<bool>& sound) {
  GraphVerifier(out, program, graph, sound).run();
}

}  // namespace tap::ir::verifying
