#include "cost/search/hold_costs.h"

#include <limits>

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/sharded_boxes.h"
#include "support/check.h"

namespace tap::cost {

using namespace ir;

Held ShardingTable::number(const Sharding& sharding) {
  Sharding placed = bare(program_[sharding.mesh], sharding);
  TAP_CHECK(list_.size() < std::numeric_limits<Held>::max(), "too many shardings");
  auto [place, fresh] = numbers_.try_emplace(to_string(program_.meshes, placed), static_cast<Held>(list_.size()));
  if (fresh) list_.push_back(std::move(placed));
  return place->second;
}

GraphCosts::GraphCosts(const Program& program, GraphId graph, const ShardingTable& table, TransferTimes& transfers,
                       std::optional<AxisId> stages)
    : program_(program),
      graph_(program[graph]),
      table_(table),
      transfers_(transfers),
      stages_(stages),
      bytes_(graph_.values.size()),
      reshards_(graph_.values.size()) {}

double GraphCosts::bytes(std::uint32_t value, Held held) {
  std::vector<double>& known = bytes_[value];
  if (held >= known.size()) known.resize(held + 1, -1);
  if (known[held] < 0) {
    const TensorType& type = graph_[ValueId(value)].type;
    double size = static_cast<double>(size_of(type.element));
    for (std::int64_t n : local_shape(program_[table_[held].mesh], table_[held], type.shape))
      size *= static_cast<double>(n);
    known[held] = size;
  }
  return known[held];
}

TransferCost GraphCosts::reshard(std::uint32_t value, Held from, Held to) {
  std::vector<std::vector<TransferCost>>& known = reshards_[value];
  if (from >= known.size()) known.resize(from + 1);
  if (to >= known[from].size()) known[from].resize(to + 1, {-1, 0});
  TransferCost& cost = known[from][to];
  if (cost.seconds < 0) cost = transfers_.reshard(table_[from], table_[to], graph_[ValueId(value)].type);
  return cost;
}

}  // namespace tap::cost
