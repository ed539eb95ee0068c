#include "ir/operation_names.h"

#include <charconv>

#include "ir/text_names.h"

namespace tap::ir {
namespace {

std::optional<std::size_t> number(std::string_view digits) {
  std::size_t n = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return n;
}

}  // namespace

std::vector<std::string> operation_names(const Graph& graph) {
  std::vector<std::string> values = value_names(graph);
  std::vector<std::size_t> writers(graph.values.size(), 0), seen(graph.values.size(), 0);
  for (const Operation& operation : graph.operations)
    for (ValueId v : operation.results) ++writers[v.index()];
  std::vector<std::string> names;
  for (const Operation& operation : graph.operations) {
    std::string& name = names.emplace_back();
    if (operation.results.empty()) continue;
    std::size_t v = operation.results[0].index();
    name = values[v];
    if (writers[v] > 1) name += "@" + std::to_string(seen[v]);
    for (ValueId r : operation.results) ++seen[r.index()];
  }
  return names;
}

std::optional<Place> OperationFinder::find(GraphId graph, std::string_view name) {
  if (std::size_t slash = name.find('/'); slash != std::string_view::npos) {
    auto outer = find(graph, name.substr(0, slash));
    if (!outer) return std::nullopt;
    const RegionBody* region = program_[program_[outer->graph][outer->operation].op].region();
    return region ? find(region->graph, name.substr(slash + 1)) : std::nullopt;
  }
  auto [table, fresh] = by_name_.try_emplace(graph);
  if (fresh) {
    std::vector<std::string> names = operation_names(program_[graph]);
    for (std::size_t o = 0; o < names.size(); ++o) table->second.emplace(names[o], OperationId(o));
  }
  auto it = table->second.find(name);
  return it == table->second.end() ? std::nullopt : std::optional(Place{graph, it->second});
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
