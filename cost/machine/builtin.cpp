// The built-in model: a processor of 3 GHz with two arithmetic units, scaled to the size of its registers.
#include <algorithm>
#include <limits>
#include <numeric>

#include "cost/machine/device.h"

namespace tap::cost {
namespace {

constexpr double hertz = 3e9;
constexpr double units = 2;  // arithmetic instructions per cycle

// 16-bit floats are computed as f32. A 64-bit integer product takes three instructions on most processors.
double arithmetic_rate(ElementType type, double register_bytes) {
  const double lanes = std::max(register_bytes / static_cast<double>(size_of(compute_type(type))), 1.0);
  return hertz * units * lanes / (type == ElementType::i64 ? 2 : 1);
}

}  // namespace

double typical_of_all(std::size_t level, double of_one, std::int64_t threads) {
  constexpr std::size_t caches = 3;
  constexpr std::int64_t fill_memory = 4;  // threads that use all of its bandwidth
  return of_one * static_cast<double>(level < caches ? threads : std::min(threads, fill_memory));
}

Device builtin(const ir::Machine& core, std::int64_t threads) {
  Device device;
  device.threads = std::max<std::int64_t>(threads, 1);
  device.core = core;
  const auto vector = static_cast<double>(core.vector_bytes);
  for (std::size_t t = 0; t < element_type_count; ++t) {
    const auto type = static_cast<ElementType>(t);
    for (std::size_t k = 0; k < instruction_count; ++k)
      device.rates.by_type[t][k] = arithmetic_rate(type, vector) * instructions[k].share;
    device.mixed[t] = shared_rate(device, type);
  }
  device.loads = 2 * hertz;
  device.stores = hertz;
  device.steps = hertz / 1.5;
  device.latency = 4 / hertz;
  auto level = [&](const char* name, double bytes, double per_cycle) {
    const double read = per_cycle * hertz, write = 0.7 * read;
    auto of_all = [&](double rate) { return typical_of_all(device.levels.size(), rate, device.threads); };
    device.levels.push_back({name, bytes, read, write, of_all(read), of_all(write)});
  };
  level("l1", static_cast<double>(core.l1_bytes), 2 * vector);
  level("l2", static_cast<double>(core.l2_bytes), std::min(vector, 48.0));
  level("l3", static_cast<double>(core.l3_bytes), 20);
  level("memory", 0, 8);
  device.memory_bytes = 16.0 * (1LL << 30);
  device.call = 0.1e-6;
  device.run = 1e-6;
  device.wake = 4e-6;
  return device;
}

double shared_rate(const Device& device, ElementType type) {
  return 2 / (1 / device.rates.of(type, Instruction::arithmetic) + 1 / device.rates.of(type, Instruction::add));
}

Cluster builtin_cluster(Device device) {
  Cluster cluster;
  cluster.types.push_back(std::move(device));
  cluster.links.push_back({"link", 0, 5e-6, 10e9, false, false});
  return cluster;
}

const Device& Cluster::device(std::int64_t number) const {
  for (const auto& [type, many] : layout) {
    if (number < many) return types[type];
    number -= many;
  }
  return types.front();
}

double Cluster::least_memory() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Device& type : types)
    if (type.memory_bytes > 0) least = std::min(least, type.memory_bytes);
  return least;
}

std::int64_t Cluster::count() const {
  std::int64_t all = 1;
  for (const Link& link : links) all *= std::max<std::int64_t>(link.count, 1);
  return all;
}

}  // namespace tap::cost
