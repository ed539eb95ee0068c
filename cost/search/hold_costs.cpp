#include "cost/search/hold_costs.h"

#include <algorithm>
#include <limits>

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/sharded_boxes.h"
#include "support/check.h"

namespace tap::cost {

using namespace ir;

namespace {

// Those of one of several writers share nothing, but are equal in each strategy.
bool are_equal(const passes::SiteRead& a, const passes::SiteRead& b) {
  return a.writer == b.writer && a.transfer.placements == b.transfer.placements &&
         equal_structure(a.transfer.op, b.transfer.op);
}

}  // namespace

Held ShardingTable::number(const Sharding& sharding) {
  Sharding placed = bare(program_[sharding.mesh], sharding);
  auto [place, fresh] = numbers_.try_emplace(to_string(program_.meshes, placed), static_cast<Held>(list_.size()));
  if (fresh) add({std::move(placed)});
  return place->second;
}

Held ShardingTable::number(const Sharding& sharding, std::vector<passes::SiteRead> reads) {
  constexpr std::size_t most = std::numeric_limits<Held>::max() / 2;
  const Held blocks = number(sharding);
  std::vector<Held>& known = with_reads_[blocks];
  for (Held held : known)
    if (std::ranges::equal(list_[held].reads, reads, are_equal)) return held;
  if (list_.size() > most) return blocks;
  known.push_back(add({Sharding(list_[blocks].sharding), std::move(reads)}));
  return known.back();
}

Held ShardingTable::add(HeldAs one) {
  TAP_CHECK(list_.size() < std::numeric_limits<Held>::max(), "too many shardings");
  list_.push_back(std::move(one));
  return static_cast<Held>(list_.size() - 1);
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

GraphCosts::GraphCosts(const GraphCosts& other, TransferTimes& transfers)
    : program_(other.program_),
      graph_(other.graph_),
      table_(other.table_),
      transfers_(transfers),
      stages_(other.stages_),
      bytes_(other.bytes_),
      reshards_(other.reshards_) {}

double GraphCosts::bytes(std::uint32_t value, Held held) {
  std::vector<double>& known = bytes_[value];
  if (held >= known.size()) known.resize(held + 1, -1);
  if (known[held] < 0) {
    const TensorType& type = graph_[ValueId(value)].type;
    const Mesh& mesh = program_[table_[held].mesh];
    double size = static_cast<double>(size_of(type.element));
    if (is_part(held)) size *= static_cast<double>(passes::cells_read(mesh, table_.reads(held)));
    else
      for (std::int64_t n : local_shape(mesh, table_[held], type.shape)) size *= static_cast<double>(n);
    known[held] = size;
  }
  return known[held];
}

TransferCost GraphCosts::reshard(std::uint32_t value, Held from, Held to) {
  std::vector<std::vector<TransferCost>>& known = reshards_[value];
  if (from >= known.size()) known.resize(from + 1);
  if (to >= known[from].size()) known[from].resize(to + 1, {-1, 0});
  TransferCost& cost = known[from][to];
  if (cost.seconds >= 0) return cost;
  const TensorType& type = graph_[ValueId(value)].type;
  if (is_part(to)) return cost = move_reads(type, from, to);
  cost = transfers_.reshard(table_[from], table_[to], type);
  if (cost.bytes == 0) return cost;
  // One transfer instead of several steps.
  const Mesh& mesh = program_[table_[from].mesh];
  const auto cells = static_cast<double>(passes::cells_received(mesh, table_[from], table_[to], type.shape));
  cost.bytes = std::min(cost.bytes, cells * static_cast<double>(size_of(type.element)));
  return cost;
}

// From all devices that hold other blocks.
TransferCost GraphCosts::move_reads(const TensorType& type, Held from, Held to) {
  const Mesh& mesh = program_[table_[from].mesh];
  Axes axes;
  for (const DimSharding& dim : table_[from].dims) axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  const auto cells = static_cast<double>(passes::cells_received(mesh, table_.reads(to), table_[from], type.shape));
  return transfers_.gather(in_mesh_order(mesh, axes), cells * static_cast<double>(size_of(type.element)));
}

}  // namespace tap::cost
