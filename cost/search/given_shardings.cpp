#include "cost/search/given_shardings.h"

#include <algorithm>
#include <functional>

#include "ir/shardings/axis_algebra.h"

namespace tap::cost {

using namespace ir;

void keep_given(const Program& program, MeshId mesh, const Graph& graph, std::vector<Strategy>& strategies) {
  auto is_as_given = [&](const Sharding& given, const Sharding& chosen) {
    for (std::size_t d = 0; d < given.dims.size(); ++d) {
      const Axes &wanted = given.dims[d].axes, &own = chosen.dims[d].axes;
      if (given.dims[d].open ? !is_prefix(program[mesh], wanted, own) : wanted != own) return false;
    }
    return true;
  };
  auto follows = [&](const Strategy& strategy) {
    for (std::size_t r = 0; r < strategy.stored.size(); ++r) {
      const std::optional<Sharding>& given = graph[strategy.site.site.results[r]].sharding;
      if (!given || given->mesh != mesh) continue;
      if (!is_as_given(*given, strategy.site.results[r]) && !is_as_given(*given, strategy.stored[r])) return false;
    }
    return true;
  };
  if (std::any_of(strategies.begin(), strategies.end(), follows)) std::erase_if(strategies, std::not_fn(follows));
}

SearchProblem with_states(SearchProblem body, const Graph& graph, const std::vector<Held>& held) {
  for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
    SearchValue& value = body.values[graph.inputs[k].index()];
    if (k < held.size()) value.fixed = held[k];
    else value.given = true;
  }
  for (std::size_t k = 0; k < held.size(); ++k) {
    body.values[graph.outputs[k].index()].kept = true;
    body.values[graph.outputs[k].index()].left = held[k];
  }
  return body;
}

}  // namespace tap::cost
