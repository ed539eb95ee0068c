#include "ir/graphs/operation_names.h"

#include <charconv>
#include <set>

#include "ir/graph.h"
#include "ir/text_names.h"

namespace tap::ir {
namespace {

std::optional<std::size_t> number(std::string_view digits) {
  std::size_t n = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return n;
}

// By operation and result: the value's name, with a number if it has several writers.
std::vector<std::vector<std::string>> result_names(const Graph& graph) {
  std::vector<std::string> values = value_names(graph);
  std::vector<std::size_t> writers(graph.values.size(), 0), seen(graph.values.size(), 0);
  for (const Operation& operation : graph.operations)
    for (ValueId v : operation.results) ++writers[v.index()];
  std::vector<std::vector<std::string>> names;
  names.reserve(graph.operations.size());
  for (const Operation& operation : graph.operations) {
    std::vector<std::string>& own = names.emplace_back();
    own.reserve(operation.results.size());
    for (ValueId v : operation.results) {
      own.push_back(values[v.index()]);
      if (writers[v.index()] > 1) own.back() += "@" + std::to_string(seen[v.index()]++);
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> operation_names(const Graph& graph) {
  std::vector<std::string> names;
  names.reserve(graph.operations.size());
  for (std::vector<std::string>& own : result_names(graph)) names.push_back(own.empty() ? "" : std::move(own[0]));
  return names;
}

std::vector<std::pair<GraphId, std::string>> graph_paths(const Program& program) {
  std::vector<std::pair<GraphId, std::string>> found{{program.main, ""}};
  std::set<GraphId> seen{program.main};
  for (std::size_t k = 0; k < found.size(); ++k) {
    auto [id, path] = found[k];
    const std::vector<Operation>& operations = program[id].operations;
    std::vector<std::string> names;  // most graphs have no inner ones
    for (std::size_t o = 0; o < operations.size(); ++o)
      if (const RegionBody* region = program[operations[o].op].region(); region && seen.insert(region->graph).second) {
        if (names.empty()) names = operation_names(program[id]);
        found.emplace_back(region->graph, path + names[o] + "/");
      }
  }
  return found;
}

std::optional<OperationInGraph> OperationFinder::find(GraphId graph, std::string_view name) {
  if (std::size_t slash = name.find('/'); slash != std::string_view::npos) {
    auto outer = find(graph, name.substr(0, slash));
    if (!outer) return std::nullopt;
    const RegionBody* region = program_[program_[outer->graph][outer->operation].op].region();
    return region ? find(region->graph, name.substr(slash + 1)) : std::nullopt;
  }
  auto [table, fresh] = by_name_.try_emplace(graph);
  if (fresh) {
    std::vector<std::vector<std::string>> names = result_names(program_[graph]);
    for (std::size_t o = 0; o < names.size(); ++o)
      for (const std::string& name : names[o]) table->second.emplace(name, OperationId(o));
  }
  auto it = table->second.find(name);
  return it == table->second.end() ? std::nullopt : std::optional(OperationInGraph{graph, it->second});
}

std::string_view before_partials(std::string_view name) {
  constexpr std::string_view ending = ".partial";
  while (name.ends_with(ending)) name.remove_suffix(ending.size());
  return name;
}

std::optional<std::uint32_t> find_dim(const Operator& op, std::string_view name) {
  std::optional<std::uint32_t> found;
  std::size_t count = 0;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].name == name) {
      found = d;
      ++count;
    }
  if (count == 1) return found;
  if (!name.starts_with('#')) return std::nullopt;
  auto n = number(name.substr(1));
  return n && *n < op.dims.size() ? std::optional(static_cast<std::uint32_t>(*n)) : std::nullopt;
}

}  // namespace tap::ir
