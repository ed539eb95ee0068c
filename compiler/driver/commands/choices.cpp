#include "compiler/driver/commands/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"

namespace tap::driver {
namespace {

using namespace ir;

class Describer {
 public:
  explicit Describer(const Program& program) : program_(program) {}

  // The choices in a graph and in the regions of its operations; `path` is the graph's path in a plan.
  void graph(GraphId id, const std::string& path) {
    if (!seen_.insert(id).second) return;
    const Graph& graph = program_[id];
    std::vector<std::string> names = operation_names(graph), values;
    for (const Value& value : graph.values) values.push_back(value.name);
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      const RegionBody* region = program_[graph.operations[o].op].region();
      if (!region) continue;
      if (region->kind == RegionKind::choice) choice(graph.operations[o], *region, values, path, 0);
      else this->graph(region->graph, path + names[o] + "/");
    }
  }
  std::string text;

 private:
  // `values`: the names that the enclosing graph's values have once its choices are picked.
  void choice(const Operation& operation, const RegionBody& region, const std::vector<std::string>& values,
              const std::string& path, std::size_t indent) {
    const std::size_t count = region.alternatives.size();
    line(indent, fmt::format("{}: choose 0 {} {}", plan_name(path + values[operation.results[0].index()]),
                             count == 1 ? "or" : "to", count));
    alternative(0, "as written", region.graph, operation, values, path, indent + 2);
    for (std::size_t a = 0; a < count; ++a)
      alternative(a + 1, region.alternatives[a].rule, region.alternatives[a].graph, operation, values, path,
                  indent + 2);
  }

  void alternative(std::size_t number, const std::string& rule, GraphId id, const Operation& choice,
                   const std::vector<std::string>& around, const std::string& path, std::size_t indent) {
    line(indent, fmt::format("{}  {}", number, rule));
    const Graph& graph = program_[id];
    std::vector<std::string> values;
    const std::string prefix = number == 0 ? "" : around[choice.results[0].index()] + ".";
    for (const Value& value : graph.values) values.push_back(prefix + value.name);
    for (std::size_t k = 0; k < graph.inputs.size(); ++k)
      values[graph.inputs[k].index()] = around[choice.operands[k].index()];
    for (std::size_t k = 0; k < graph.outputs.size(); ++k)
      values[graph.outputs[k].index()] = around[choice.results[k].index()];
    for (const Operation& operation : graph.operations) {
      const Operator& op = program_[operation.op];
      const RegionBody* region = op.region();
      if (region && region->kind == RegionKind::choice) this->choice(operation, *region, values, path, indent + 5);
      else
        line(indent + 5,
             fmt::format("{} = {}({})", written(graph, operation.results, values), own_name(op, operation.names),
                         fmt::join(named(operation.operands, values), ", ")));
    }
  }

  static std::vector<std::string> named(const std::vector<ValueId>& list, const std::vector<std::string>& values) {
    std::vector<std::string> names;
    for (ValueId v : list) names.push_back(values[v.index()]);
    return names;
  }
  static std::string written(const Graph& graph, const std::vector<ValueId>& list,
                             const std::vector<std::string>& values) {
    std::string text;
    for (ValueId v : list) text += (text.empty() ? "" : ", ") + values[v.index()] + ": " + to_string(graph[v].type);
    return text;
  }

  void line(std::size_t indent, const std::string& what) { text += std::string(indent, ' ') + what + "\n"; }

  const Program& program_;
  std::set<GraphId> seen_;
};

}  // namespace

std::string describe_choices(const Program& program, const std::vector<passes::Remark>& remarks) {
  Describer describer(program);
  describer.graph(program.main, "");
  if (describer.text.empty()) describer.text = "no choices\n";
  for (const passes::Remark& remark : remarks)
    describer.text += fmt::format("note: {}: {}\n", plan_name(remark.operation), remark.message);
  return describer.text;
}

}  // namespace tap::driver
