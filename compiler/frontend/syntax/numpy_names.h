// Tap's counterparts of names in NumPy, PyTorch and JAX: mean(x) is mean_all(x).
#pragma once

#include <string>
#include <string_view>

namespace tap {

// As a sentence for a help; empty if the name is unknown.
std::string instead_of_numpy(std::string_view name);

}  // namespace tap
