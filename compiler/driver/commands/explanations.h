// The pages docs/codes/T*.md, embedded in tapc by the build (cmake/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace tap {

struct Explanation {
  std::string_view id;    // T0203
  std::string_view text;  // Markdown
};

namespace embedded {
std::span<const Explanation> explanations();
}

}  // namespace tap
