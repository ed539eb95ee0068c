// The text of a node of a picture, and the room that it needs in the font of pictures.
#pragma once

#include <string>
#include <string_view>

#include "compiler/driver/show/drawing.h"
#include "compiler/driver/show/layered_layout.h"

namespace tap::driver {

inline constexpr double node_line_height = 15;
inline constexpr double node_padding = 9;

// A line that is too long ends in `…`.
std::string shortened_line(const std::string& text);
Size size_of(const DrawnNode& node);

}  // namespace tap::driver
