// The kernels of a report with code: for each its loop nest, its assembly, and the values that it computes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string_view>
#include <vector>

#include "backend/loops/loops.h"
#include "ir/schedule.h"

namespace tap::driver {

// `assembly`: of the whole library (backend/llvm/library.h), whose kernels are k_0001, k_0002, …
nlohmann::ordered_json report_kernels(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels,
                                      std::string_view assembly);

}  // namespace tap::driver
