#include "compiler/frontend/syntax/written_signs.h"

#include <array>

namespace tap {
namespace {

struct Sign {
  std::string_view written, ascii;
};
constexpr auto signs = std::to_array<Sign>({
    {"×", "*"},  {"·", "*"},   {"⋅", "*"},   {"∗", "*"},  {"÷", "/"},  {"∕", "/"},  {"−", "-"},
    {"–", "-"},  {"≤", "<="},  {"≥", ">="},  {"≠", "!="}, {"→", "->"}, {"⇒", "=>"}, {"∧", "and"},
    {"∨", "or"}, {"¬", "not"}, {"∞", "inf"}, {"“", "\""}, {"”", "\""},
});

}  // namespace

std::string_view ascii_of_sign(std::string_view sign) {
  for (const Sign& known : signs)
    if (known.written == sign) return known.ascii;
  return {};
}

}  // namespace tap
