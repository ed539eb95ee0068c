#include "support/plural.h"

namespace tap {

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string plural(std::uint64_t count, std::string_view noun) { return plural(count, noun, std::string(noun) + "s"); }

}  // namespace tap
