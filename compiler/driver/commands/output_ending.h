// The ending of an output file's name, which selects the format. A name without an ending, such as `graph`, selects
// none.
//
//   ending_of("out/mlp.svg")   ".svg"        ending_of("out.d/mlp")   ""        ending_of(".svg")   ""
#pragma once

#include <string>
#include <string_view>

#include "support/diagnostic.h"

namespace tap::driver {

// The part after the last `/`.
std::string base_name(const std::string& path);
std::string_view ending_of(std::string_view path);

// `tapc inspect` cannot write `x.png`: unknown ending `.png`. `accepted` is the help: `use .svg or .dot`
Failure unknown_ending(std::string_view command, const std::string& path, std::string accepted);

}  // namespace tap::driver
