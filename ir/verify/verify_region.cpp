// Operators with an inner graph: operands and results match the graph, the state of an iterate keeps its type, and
// the operations of a group can be fused.
#include <set>

#include "ir/graph.h"
#include "ir/verify/verify_parts.h"

namespace tap::ir::verifying {
namespace {

class RegionVerifier {
 public:
  RegionVerifier(Violations& out, const Program& program, const Operator& op) : out_(out), program_(program), op_(op) {}

  void run(const RegionBody& region) {
    if (!out_.expect(valid(region.graph, program_.graphs), "the region's graph is not in the table")) return;
    choice_and_group(region);
    if (region.kind == RegionKind::group) members(program_[region.graph]);
    if (region.kind != RegionKind::group)
      out_.expect(op_.dims.empty() && op_.reads.empty() && op_.writes.empty() && op_.constraints.empty(),
                  "a call or an iterate must not have an index space");
    const Graph& graph = program_[region.graph];
    boundary(graph, graph.inputs, op_.operands, "operands", "inputs");
    boundary(graph, graph.outputs, op_.results, "results", "outputs");
    if (region.kind != RegionKind::iterate) return;
    out_.expect(region.trips.lo <= region.trips.hi, "the trips {} are reversed", to_string(region.trips));
    if (!out_.expect(op_.results.size() <= op_.operands.size(), "a state of {} values with {} operands",
                     op_.results.size(), op_.operands.size()))
      return;
    for (std::size_t k = 0; k < op_.results.size(); ++k)
      out_.expect(op_.operands[k] == op_.results[k], "the state {} enters as {}, but leaves as {}", k,
                  to_string(op_.operands[k]), to_string(op_.results[k]));
  }

 private:
  void choice_and_group(const RegionBody& region) {
    out_.expect(region.kind == RegionKind::group || region.anchors.empty(), "only a group has anchors");
    out_.expect(region.kind == RegionKind::choice || region.alternatives.empty(), "only a choice has alternatives");
    for (const GroupAnchor& a : region.anchors) {
      const Graph& graph = program_[region.graph];
      bool known = a.dim < op_.dims.size() && a.operation < graph.operations.size() &&
                   valid(graph.operations[a.operation].op, program_.operators) &&
                   a.inner_dim < program_[graph.operations[a.operation].op].dims.size();
      out_.expect(known, "an anchor of dim {} at {}.{}, which does not exist", a.dim, a.operation, a.inner_dim);
    }
    for (const Alternative& a : region.alternatives) {
      if (!out_.expect(valid(a.graph, program_.graphs), "an alternative's graph is not in the table")) continue;
      const Graph& graph = program_[a.graph];
      boundary(graph, graph.inputs, op_.operands, "operands", "inputs");
      boundary(graph, graph.outputs, op_.results, "results", "outputs");
    }
  }

  // A group is split as one operation, so each point of its operations must determine where they read and write.
  void members(const Graph& graph) {
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      const Operation& operation = graph.operations[o];
      if (!valid(operation.op, program_.operators)) continue;  // reported with the graph
      const Operator& member = program_[operation.op];
      bool group = member.region() && member.region()->kind == RegionKind::group;
      out_.expect(member.map() || member.reduce() || group,
                  "a group contains operation {} ({}), which is not a map, reduction or group", o, member.name);
      out_.expect(member.blockings.empty() && operation.placements.empty(),
                  "a group contains operation {} ({}), which has its own splits", o, member.name);
    }
    outputs_of_group(graph);
  }

  // The loops of its operations write its results, each into memory of its own.
  void outputs_of_group(const Graph& graph) {
    std::set<ValueId> written, seen;
    for (const Operation& operation : graph.operations)
      written.insert(operation.results.begin(), operation.results.end());
    for (ValueId v : graph.outputs) {
      if (!valid(v, graph.values)) continue;  // reported with the graph
      out_.expect(written.contains(v), "none of a group's operations writes its output {}", graph[v].name);
      out_.expect(seen.insert(v).second, "a group has the output {} twice", graph[v].name);
    }
  }

  void boundary(const Graph& graph, const std::vector<ValueId>& inner, const std::vector<TensorType>& outer,
                std::string_view outer_word, std::string_view inner_word) {
    if (!out_.expect(inner.size() == outer.size(), "{} {} and a region of {} {}", outer.size(), outer_word,
                     inner.size(), inner_word))
      return;
    for (std::size_t k = 0; k < inner.size(); ++k) {
      if (!valid(inner[k], graph.values)) continue;  // reported with the graph
      const TensorType& type = graph[inner[k]].type;
      out_.expect(type == outer[k], "{} {} is {}, but {} in the region", outer_word, k, to_string(outer[k]),
                  to_string(type));
    }
  }

  Violations& out_;
  const Program& program_;
  const Operator& op_;
};

}  // namespace

void verify_region(Violations& out, const Program& program, const Operator& op, const RegionBody& region) {
  RegionVerifier(out, program, op).run(region);
}

}  // namespace tap::ir::verifying
