// Every kernel is tested before it is used or cached: on small boxes with full tiles and tails, between guard bytes,
// against the definition of its operator (reference.h). So an error in lowering, emission or LLVM is caught here
// instead of corrupting results.
//
//   kernel 2, of `Y`: Y[0, 17] is 0, not 36 (on the box i 0..3, j 0..17, k 0..2)
//
// The effort is limited by a number of points, never by time, so it is the same on every machine.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/loops/kernel_source.h"
#include "backend/trial/check_boxes.h"
#include "backend/trial/check_case.h"

namespace tap::backend {

struct SelfCheckOptions {
  bool on = true;
  CheckBudget budget = {3000, 20000, 0};
};
// As set by TAPC_SELF_CHECK, which is for tests: `thorough` tests larger boxes, also if `on` is false. Unset: `on`
// decides.
SelfCheckOptions self_check_options(bool on);

// The test cases of a kernel. Empty if its loops allow no small enough box.
std::vector<CheckCase> cases_for(const ir::Program& program, const KernelSource& source, const Kernel& kernel,
                                 const SelfCheckOptions& options);
// A case for people: its box, with the names of dims.
std::string describe(const KernelSource& source, const CheckCase& trial);

// Throws InternalError, which names the kernel, if a case fails.
void check_kernel(const ir::Program& program, const KernelSource& source, std::size_t number, const Kernel& kernel,
                  KernelFunction function, const SelfCheckOptions& options);

// What a kernel is tested against, independent of names. It is part of the kernel's cache key, so that a kernel that
// was tested against something else is not reused.
std::string self_check_key(const ir::Program& program, const KernelSource& source, const SelfCheckOptions& options);

}  // namespace tap::backend
