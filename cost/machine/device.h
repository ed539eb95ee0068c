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

// Where cells come from: a cache, or in the end memory. Bandwidths are those of one thread that streams what fits there.
struct MemoryLevel {
  std::string name;
  double bytes = 0;        // that one thread may count on
  double read = 0;         // bytes per second
  double write = 0;        // likewise, with the read that a store of a part of a line takes
  double read_shared = 0;  // of all threads together
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
  PerInstruction rates = {};  // operations on elements per second, registers full
  double loads = 0;           // loads of a register per second, from the first cache
  double stores = 0;
  double steps = 0;                 // rounds of a loop per second
  double latency = 0;               // seconds until the next instruction may use an arithmetic result
  std::vector<MemoryLevel> levels;  // the first cache first, memory last
  double memory_bytes = 0;          // of the device
  double call = 0;                  // seconds to begin a task
  double run = 0;                   // seconds to begin a run of a program
  double scaling = 1;               // of a thread's rate, what is left of it when all threads are busy
  double wake = 0;                  // seconds to share a batch among threads
  double overlap = 0.7;             // of the shorter of computing and moving bytes: what the longer one hides
  std::vector<Price> prices = {};
  bool operator==(const Device&) const = default;
};

// Groups of devices, or of the groups of the level below, that something joins.
struct Link {
  std::string name;
  std::int64_t count = 1;  // of the groups that one such link joins
  double latency = 0;      // seconds of a message
  double bandwidth = 0;    // bytes per second and direction, of a group
  bool shared = false;     // all groups take turns
  bool ring = false;       // each group reaches its two neighbours alone: an axis of a torus
  bool operator==(const Link&) const = default;
};
struct PairLink {  // instead of the levels
  std::int64_t from = 0, to = 0;
  double latency = 0, bandwidth = 0;
  bool operator==(const PairLink&) const = default;
};

// A term of the machine file: seconds by a formula of what an operation does (formula.h).
struct Term {
  std::string name;
  std::string formula;
  bool operator==(const Term&) const = default;
};

struct Cluster {
  std::vector<Device> types;  // at least one
  std::vector<std::pair<std::size_t, std::int64_t>> layout =
      {};                        // types and how many of them follow; none: all of the first
  std::vector<Link> links = {};  // the innermost first
  std::vector<PairLink> pairs = {};
  std::vector<Term> terms = {};
  const Device& device(std::int64_t number) const;
  std::int64_t count() const;  // of devices; 1 if not specified
  bool operator==(const Cluster&) const = default;
};

// What usual processors with these registers and caches do.
Device builtin(const ir::Machine& core, std::int64_t threads);
// Devices of a mesh without a machine file: links as a usual network has them.
Cluster builtin_cluster(Device device);

}  // namespace tap::cost
