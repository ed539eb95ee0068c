// The time of the data movement that shardings require, by the links of the cluster.
//
//   all_gather over model, 4 devices of one node: 3 messages of a quarter each
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cost/machine/device.h"
#include "ir/operator.h"
#include "passes/caution.h"
#include "passes/shardings/collectives.h"

namespace tap::cost {

struct TransferCost {
  double seconds = 0;
  double bytes = 0;  // that the busiest device receives
  TransferCost& operator+=(const TransferCost& other) {
    seconds += other.seconds;
    bytes += other.bytes;
    return *this;
  }
};

// Of partials, where all devices get the result.
enum class Combination : std::uint8_t { usual, by_slices };

class TransferTimes {
 public:
  TransferTimes(const Cluster& cluster, const ir::Program& program, ir::MeshId mesh,
                const passes::Caution& caution = {});

  // From one sharding of the mesh to another. `from` may have partials.
  TransferCost reshard(const ir::Sharding& from, const ir::Sharding& to, const ir::TensorType& type,
                       Combination combination = Combination::usual);
  // Bytes that each device receives from its neighbours along these axes.
  TransferCost exchange(const ir::Axes& axes, double bytes);
  // Bytes that each device receives from the others along these axes, an equal part from each.
  TransferCost gather(const ir::Axes& axes, double bytes) {
    return bytes > 0 ? from_group(axes, bytes) : TransferCost{};
  }
  // To the next device along this axis.
  TransferCost shift(const ir::Axes& axis, double bytes);
  // In seconds: within the memory of a device.
  double copy(double bytes) const;

 private:
  // A device receives an equal part from each other member of its group: the devices that differ in these axes alone.
  TransferCost from_group(const ir::Axes& axes, double bytes);
  // In rounds, or slices: then a device receives one from each other member, twice.
  TransferCost all_reduce(const passes::Collective& step, const ir::TensorType& type, double bytes,
                          Combination combination);
  struct Neighbours {  // the slowest link between two of them
    double latency = 0, seconds_per_byte = 0;
  };
  struct Group {
    double latency = 0;           // of one message from each other member, in sequence
    double seconds_per_byte = 0;  // if each sends an equal part
    Neighbours neighbours = {};
  };
  const Group& group(const ir::Axes& axes);

  const Cluster& cluster_;
  const ir::Program& program_;
  const ir::MeshId mesh_;
  const passes::Caution caution_;
  std::map<std::string, Group> groups_;
  std::map<std::string, TransferCost> known_;
};

}  // namespace tap::cost
