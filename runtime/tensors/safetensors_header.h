// The JSON header of a .safetensors file, parsed by its schema: the nesting depth is fixed, so no input causes
// recursion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensors/safetensors.h"

namespace tap {

// Linear in the text's length (except for sorting the names). Does not check ranges. Throws Failure, exit 3.
std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text, const std::string& source_name,
                                                       const DataLimits& limits);

std::string_view safetensors_type(ElementType type);
std::string json_string(std::string_view text);

}  // namespace tap
