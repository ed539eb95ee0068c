// The names that formulas of machine files may use.
#pragma once

#include <string>
#include <vector>

#include "cost/machine/device.h"

namespace tap::cost {

std::vector<std::string> names_for_formulas(const Device& device);
// Terms that the machine file may replace, by a term of the same name.
std::vector<std::string> built_in_terms(const Device& device);

}  // namespace tap::cost
