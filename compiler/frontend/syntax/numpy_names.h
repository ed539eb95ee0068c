// What stands in Tap for a name that users of NumPy, PyTorch and JAX bring along: mean(x) is mean_all(x).
#pragma once

#include <string>
#include <string_view>

namespace tap {

// As a sentence for a help; empty if the name tells nothing.
std::string instead_of_numpy(std::string_view name);

}  // namespace tap
