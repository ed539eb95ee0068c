#include "cost/search/iterate_states.h"

#include <algorithm>
#include <map>

#include "cost/search/divisions.h"

namespace tap::cost {

using namespace ir;

namespace {

constexpr std::size_t most_state_choices = 64;  // of one iterate

}  // namespace

StateShardings state_shardings(const Program& program, MeshId mesh, const Graph& body, ShardingTable& table) {
  std::map<Shape, std::vector<Held>> of_shape;
  std::size_t combinations = 1;
  for (ValueId v : body.outputs) {
    auto [place, fresh] = of_shape.try_emplace(body[v].type.shape);
    if (fresh)
      for (const Sharding& sharding : shardings_of(program, mesh, body[v].type.shape))
        place->second.push_back(table.number(sharding));
    combinations = std::min(combinations * place->second.size(), most_state_choices + 1);
  }
  const bool alike = combinations > most_state_choices;
  std::vector<std::vector<Held>> all{{}};
  std::vector<const Shape*> seen;
  for (ValueId v : body.outputs) {
    const Shape& shape = body[v].type.shape;
    const auto before = std::find_if(seen.begin(), seen.end(), [&](const Shape* other) { return *other == shape; });
    std::vector<std::vector<Held>> longer;
    for (const std::vector<Held>& head : all) {
      if (alike && before != seen.end()) {
        longer.push_back(head);
        longer.back().push_back(head[static_cast<std::size_t>(before - seen.begin())]);
        continue;
      }
      for (Held held : of_shape[shape]) {
        if (longer.size() >= most_state_choices) break;
        longer.push_back(head);
        longer.back().push_back(held);
      }
    }
    all = std::move(longer);
    seen.push_back(&shape);
  }
  return {std::move(all), !alike};
}

}  // namespace tap::cost
