// --rtol and --atol, for the commands that compare tensors.
#pragma once

#include <string>

#include "compiler/driver/compare.h"

namespace CLI {
class App;
}

namespace tap::driver {

// `relative` and `absolute` describe the defaults.
void add_tolerance_options(CLI::App& app, Tolerance& tolerance, const std::string& of, const std::string& relative,
                           const std::string& absolute);

}  // namespace tap::driver
