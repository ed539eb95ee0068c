// The keys of machine files, as tables: each key with its unit, its range, and its destination.
#pragma once

#include <span>

#include "compiler/driver/machines/quantity.h"
#include "cost/machine/device.h"

namespace tap::driver {

struct DeviceKey {
  std::string_view table;  // of a device; empty: top level
  std::string_view name;
  Unit unit;
  double least, most;
  void (*set)(cost::Device& device, double value);
  double (*get)(const cost::Device& device);
};
std::span<const DeviceKey> device_keys();

struct LinkKey {
  std::string_view name;
  Unit unit;
  double least, most;
  void (*set)(cost::Link& link, double value);
  double (*get)(const cost::Link& link);
};
std::span<const LinkKey> link_keys();

// Of [rates.TYPE], besides the kinds of instructions.
inline constexpr std::string_view mixed_key = "mixed";

inline constexpr double most_rate = 1e18;

}  // namespace tap::driver
