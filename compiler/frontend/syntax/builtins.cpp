#include "compiler/frontend/syntax/builtins.h"

#include <algorithm>
#include <array>
#include <string>

#include "support/diagnostic.h"

namespace tap {
namespace {

constexpr std::array<std::string_view, 6> reductions{"sum", "prod", "max", "min", "any", "all"};
constexpr std::array<std::string_view, 11> keywords{"if",  "then", "else",  "and", "or", "not",
                                                    "let", "true", "false", "inf", "nan"};

template <class Array>
bool contains(const Array& array, std::string_view name) {
  return std::find(array.begin(), array.end(), name) != array.end();
}

struct Function {
  std::string_view name;
  ir::CellOp op;
};
std::vector<Function> all_functions() {
  std::vector<Function> found;
  for (std::size_t i = 0; i < ir::cell_op_count; ++i) {
    auto op = static_cast<ir::CellOp>(i);
    const ir::CellOpInfo& about = info(op);
    bool is_word = about.spelling[0] >= 'a' && about.spelling[0] <= 'z';
    if (is_word && is_strict(op) && !contains(keywords, about.spelling)) found.push_back({about.spelling, op});
  }
  return found;
}
const std::vector<Function>& functions() {
  static const std::vector<Function> table = all_functions();
  return table;
}

}  // namespace

std::optional<ir::CellOp> builtin_function(std::string_view name) {
  for (const Function& f : functions())
    if (f.name == name) return f.op;
  return std::nullopt;
}

bool is_builtin_reduction(std::string_view name) { return contains(reductions, name); }

bool is_reserved(std::string_view name) {
  return builtin_function(name) || is_builtin_reduction(name) || contains(keywords, name) || element_type_named(name);
}

std::vector<std::string> builtin_function_names() {
  std::vector<std::string> names;
  for (const Function& f : functions()) names.emplace_back(f.name);
  return names;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < element_type_count; ++i) names.emplace_back(name_of(static_cast<ElementType>(i)));
  return names;
}

}  // namespace tap
