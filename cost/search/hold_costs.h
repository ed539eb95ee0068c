// What the values of one graph take in memory and in transfers, by the number of a sharding.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cost/search/frontier.h"
#include "ir/graph_ids.h"
#include "ir/shardings/sharding.h"
#include "passes/shardings/reads.h"

namespace tap::cost {

// The shardings of a search by number, without what does not place cells; and what operations read of a value where that is not
// the blocks of a sharding: a part of them, or several parts.
class ShardingTable {
 public:
  explicit ShardingTable(const ir::Program& program) : program_(program) {}
  Held number(const ir::Sharding& sharding);
  // Reads of devices that compute as for this sharding.
  Held number(const ir::Sharding& sharding, std::vector<passes::SiteRead> reads);
  const ir::Sharding& operator[](Held number) const { return list_[number].sharding; }
  const std::vector<passes::SiteRead>& reads(Held number) const { return list_[number].reads; }  // none: blocks

 private:
  struct HeldAs {
    ir::Sharding sharding;
    std::vector<passes::SiteRead> reads = {};
  };
  Held add(HeldAs one);

  const ir::Program& program_;
  std::map<std::string, Held> numbers_;
  std::map<Held, std::vector<Held>> with_reads_;  // by the number of the sharding alone
  std::vector<HeldAs> list_;
};

class GraphCosts : public HoldCosts {
 public:
  // `stages`: the mesh axis along which each stage has a coordinate.
  GraphCosts(const ir::Program& program, ir::GraphId graph, const ShardingTable& table, TransferTimes& transfers,
             std::optional<ir::AxisId> stages = {});
  // With what the other has found out.
  GraphCosts(const GraphCosts& other, TransferTimes& transfers);

  double bytes(std::uint32_t value, Held held) override;
  TransferCost reshard(std::uint32_t value, Held from, Held to) override;
  bool is_part(Held held) override { return !table_.reads(held).empty(); }
  TransferCost to_later_stage(std::uint32_t value, Held held) override {
    return transfers_.shift({{stages_.value(), {}}}, bytes(value, held));
  }
  double seconds_of_copy(std::uint32_t value, Held held) override { return transfers_.copy(bytes(value, held)); }

 private:
  TransferCost move_reads(const ir::TensorType& type, Held from, Held to);

  const ir::Program& program_;
  const ir::Graph& graph_;
  const ShardingTable& table_;
  TransferTimes& transfers_;
  const std::optional<ir::AxisId> stages_;
  std::vector<std::vector<double>> bytes_;                        // by value and sharding; negative: unknown
  std::vector<std::vector<std::vector<TransferCost>>> reshards_;  // by value and both shardings
};

}  // namespace tap::cost
