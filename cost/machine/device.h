// The machine of the cost model: its devices, the rates of a thread on each, its caches, and the links between
// devices. The values come from a machine file (docs/reference/machine_files.md), or from builtin() for common
// processors.
//
//   Device device = builtin("cpu", core, 2);
//   device.rates[ElementType::f32, Instruction::arithmetic]     operations per second of one thread with full registers
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/machine.h"
#include "support/element_type.h"

namespace tap::cost {

enum class Instruction : std::uint8_t {
#define TAP_INSTRUCTION(name, share, help) name,
#include "cost/machine/instructions.def"
};
struct InstructionInfo {
  std::string_view name;
  double share;
  std::string_view help;
};
inline constexpr InstructionInfo instructions[] = {
#define TAP_INSTRUCTION(name, share, help) {#name, share, help},
#include "cost/machine/instructions.def"
};
inline constexpr std::size_t instruction_count = std::size(instructions);

// One number for each kind of instruction on each element type.
struct PerInstruction {
  std::array<std::array<double, instruction_count>, element_type_count> by_type = {};
  double& of(ElementType type, Instruction kind) {
    return by_type[static_cast<std::size_t>(type)][static_cast<std::size_t>(kind)];
  }
  double of(ElementType type, Instruction kind) const {
    return by_type[static_cast<std::size_t>(type)][static_cast<std::size_t>(kind)];
  }
  bool operator==(const PerInstruction&) const = default;
};

using PerType = std::array<double, element_type_count>;

// A source of cells: a cache or, last, memory. Bandwidths are for one thread that streams data which fits there.
struct MemoryLevel {
  std::string name;
  double bytes = 0;        // capacity that one thread may use
  double read = 0;         // bytes per second
  double write = 0;        // likewise, including the read for a partial-line store
  double read_shared = 0;  // for all threads together
  double write_shared = 0;
  bool operator==(const MemoryLevel&) const = default;
};

struct Price {  // money, energy, … per second of a device
  std::string name;
  double per_second = 0;
  bool operator==(const Price&) const = default;
};

// One type of device. All rates are those of one thread.
struct Device {
  std::string name = "cpu";
  std::int64_t threads = 1;
  ir::Machine core = {};      // registers and caches as kernels are lowered for them
  PerInstruction rates = {};  // elements per second, with full registers
  PerType mixed = {};         // elements per second, of products and additions in turns (cost/work/vector_units.h)
  double loads = 0;           // register loads per second, from the first cache
  double stores = 0;
  double steps = 0;                 // loop iterations per second
  double latency = 0;               // seconds until an arithmetic result can be used
  std::vector<MemoryLevel> levels;  // the first cache first, memory last
  double memory_bytes = 0;          // of the device
  double call = 0;                  // seconds to start a task
  double run = 0;                   // seconds to start a run of a program
  double scaling = 1;               // fraction of a thread's rate that is left if all threads are busy
  double wake = 0;                  // seconds to distribute a batch to threads
  double overlap = 0.7;             // of the shorter of compute and memory time, the fraction that the longer one hides
  std::vector<Price> prices = {};
  bool operator==(const Device&) const = default;
};

// Joins devices, or groups of the level below.
struct Link {
  std::string name;
  std::int64_t count = 1;  // how many groups one such link joins
  double latency = 0;      // seconds per message
  double bandwidth = 0;    // bytes per second and direction, for one group
  bool shared = false;     // groups share the bandwidth
  bool ring = false;       // each group is linked to its two neighbours only: an axis of a torus
  bool operator==(const Link&) const = default;
};
struct PairLink {  // overrides the levels
  std::int64_t from = 0, to = 0;
  double latency = 0, bandwidth = 0;
  bool operator==(const PairLink&) const = default;
};

// A term of the machine file: a formula for seconds from the work of an operation (formula.h).
struct Term {
  std::string name;
  std::string formula;
  bool operator==(const Term&) const = default;
};

struct Cluster {
  std::vector<Device> types;  // at least one
  std::vector<std::pair<std::size_t, std::int64_t>> layout =
      {};                        // types and how many devices have each, in order; empty: all have the first
  std::vector<Link> links = {};  // innermost first
  std::vector<PairLink> pairs = {};
  std::vector<Term> terms = {};
  std::string cpus = {};  // the processors that runs with this file use, as the user writes them; empty: all
  const Device& device(std::int64_t number) const;
  std::int64_t count() const;   // of devices; 1 if not specified
  double least_memory() const;  // bytes of the device with the least; infinite if unknown
  bool operator==(const Cluster&) const = default;
};

// Typical rates of processors with these registers and caches.
Device builtin(const ir::Machine& core, std::int64_t threads);
// The bandwidth of a level for all threads together, if nobody measured it. `level`: its number in Device::levels.
double typical_of_all(std::size_t level, double of_one, std::int64_t threads);
// Products and additions in turns, if they share their units.
double shared_rate(const Device& device, ElementType type);
// Devices of a mesh without a machine file: links of a typical network.
Cluster builtin_cluster(Device device);

}  // namespace tap::cost
