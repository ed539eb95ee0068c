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

// What a kernel does with one of its tensors.
struct TensorWork {
  double bytes = 0;  // that it touches, in whole lines
  bool reads = false, writes = false;
  bool local = false;          // memory of its own
  std::vector<double> missed;  // by level but the last: bytes that come from further away, nothing being there at first
  bool operator==(const TensorWork&) const = default;
};

struct KernelWork {
  PerInstruction instructions;       // of full registers
  double operations = 0;             // on elements, without index arithmetic
  double loads = 0, stores = 0;      // of a register or less
  double rounds = 0;                 // of loops that are not unrolled
  double busy = 0;                   // seconds of instructions, loads and stores, were nothing to wait for
  double waiting = 0;                // seconds more, where each result needs the one before
  double lanes = 0, lanes_used = 0;  // of vector instructions
  std::vector<TensorWork> tensors;   // as the kernel's
  bool operator==(const KernelWork&) const = default;
};

KernelWork work_of(const backend::Kernel& kernel, const ir::Box& box, const Device& device);

}  // namespace tap::cost
