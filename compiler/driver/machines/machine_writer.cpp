// Writes a machine as a machine file, which reads back as the same machine.
#include <fmt/format.h>

#include "compiler/driver/machines/keys.h"
#include "compiler/driver/machines/machine_reader.h"

namespace tap::driver {
namespace {

using cost::Cluster, cost::Device, cost::Link;

// Every key of a device, in tables below `above`.
std::string device_text(const Device& device, const std::string& above) {
  std::string text, table;
  for (const DeviceKey& key : device_keys()) {
    const double value = key.get(device);
    if (value < key.least || value > key.most) continue;
    if (key.table != table) text += fmt::format("\n[{}{}]\n", above, table = key.table);
    text += fmt::format("{} = {}\n", key.name, value);
  }
  for (std::size_t t = 0; t < element_type_count; ++t) {
    text += fmt::format("\n[{}rates.{}]\n", above, name_of(static_cast<ElementType>(t)));
    for (std::size_t k = 0; k < cost::instruction_count; ++k)
      text += fmt::format("{} = {}\n", cost::instructions[k].name, device.rates.by_type[t][k]);
    text += fmt::format("{} = {}\n", mixed_key, device.mixed[t]);
  }
  if (!device.prices.empty()) text += fmt::format("\n[{}prices]\n", above);
  for (const cost::Price& price : device.prices) text += fmt::format("\"{}\" = {}\n", price.name, price.per_second);
  return text;
}

}  // namespace

std::string machine_file_of(const Cluster& cluster, const std::string& notes) {
  std::string text = notes;
  if (!cluster.cpus.empty()) text += fmt::format("cpus = \"{}\"\n", cluster.cpus);
  if (cluster.layout.empty()) text += device_text(cluster.types.front(), "");
  for (const auto& [type, count] : cluster.layout)
    text += fmt::format("\n[[devices]]\nname = \"{}\"\ncount = {}\n", cluster.types[type].name, count) +
            device_text(cluster.types[type], "devices.");
  for (const Link& link : cluster.links) {
    text += fmt::format("\n[[links]]\nname = \"{}\"\nshared = {}\nring = {}\n", link.name, link.shared, link.ring);
    for (const LinkKey& key : link_keys())
      if (const double value = key.get(link); value >= key.least) text += fmt::format("{} = {}\n", key.name, value);
  }
  for (const cost::PairLink& pair : cluster.pairs)
    text += fmt::format("\n[[pairs]]\nfrom = {}\nto = {}\nlatency = {}\nbandwidth = {}\n", pair.from, pair.to,
                        pair.latency, pair.bandwidth);
  return text;
}

}  // namespace tap::driver
