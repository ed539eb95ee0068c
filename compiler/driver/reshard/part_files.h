// The files of a sharded tensor: one for each device or process, numbered from 1.
//
//   y.safetensors in 4 parts: y-00001-of-00004.safetensors, …, y-00004-of-00004.safetensors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tap::driver {

std::string part_file(std::string_view path, std::int64_t number, std::int64_t count);

// The name without its number, if this is the name of a part.
std::optional<std::string> whole_of_part(std::string_view path);

// The parts that lie beside `path`, in order; none if there are none. Throws Failure, exit 3: some are missing, or there are parts of
// two sets.
std::vector<std::string> find_parts(const std::string& path);

}  // namespace tap::driver
