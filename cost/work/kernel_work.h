// The work of a kernel on a box, counted from its loop nest: instructions of each kind, loads and stores, dependence
// chains, and the bytes of each cache's misses. It depends on the sizes of registers and caches, but neither on
// speeds nor on what the kernel computes.
//
// Loops are not executed. Their iterations are counted from their bounds, with the variables of outer loops in the
// middle of their ranges, and again with their last values where the last iteration differs (a tail, a triangle).
#pragma once

#include <vector>

#include "backend/loops/loops.h"
#include "cost/machine/device.h"

namespace tap::cost {

// The traffic of one of the kernel's tensors.
struct TensorWork {
  double bytes = 0;  // touched, in whole lines
  bool reads = false, writes = false;
  bool local = false;          // the kernel's own memory
  std::vector<double> missed;  // by level except the last: bytes that miss it, starting cold
  std::vector<double> starts;  // of these, the first bytes of contiguous runs
  bool operator==(const TensorWork&) const = default;
};

// One of several loops after each other (phases.h).
struct PhaseWork {
  double seconds = 0;          // of computing
  std::vector<double> missed;  // by level except the last: bytes of all tensors
  bool operator==(const PhaseWork&) const = default;
};

struct KernelWork {
  PerInstruction instructions;       // of full registers
  double operations = 0;             // on elements, without index arithmetic
  double loads = 0, stores = 0;      // of up to one register
  double rounds = 0;                 // iterations of loops that are not unrolled
  double busy = 0;                   // seconds of instructions, loads and stores, without stalls
  double waiting = 0;                // additional seconds if each result waits for the previous one
  double lanes = 0, lanes_used = 0;  // of vector instructions
  std::vector<TensorWork> tensors;   // in the kernel's order
  std::vector<PhaseWork> phases;     // none if there is one loop only
  double phase_runs = 0;             // how often they are executed
  bool operator==(const KernelWork&) const = default;
};

KernelWork work_of(const backend::Kernel& kernel, const ir::Box& box, const Device& device);

}  // namespace tap::cost
