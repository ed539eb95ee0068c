// The kernels of a report with code: for each its loop nest, its assembly, and the values that it computes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <vector>

#include "backend/llvm/library.h"
#include "backend/loops/loops.h"
#include "ir/schedule.h"

namespace tap::driver {

// `code`: of the whole library, with its located assembly; kernels are k_0001, k_0002, …
nlohmann::ordered_json report_kernels(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels,
                                      const backend::LibraryText& code);

}  // namespace tap::driver
