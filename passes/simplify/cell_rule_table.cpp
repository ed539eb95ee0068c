#include "passes/simplify/cell_rules.h"

namespace tap::passes {

namespace {

constexpr std::string_view texts[] = {
#define TAP_CELL_RULE(text) text,
#include "passes/simplify/cell_rules.def"
#undef TAP_CELL_RULE
};

}  // namespace

const std::vector<CellRule>& cell_rules() {
  static const std::vector<CellRule> rules = [] {
    std::vector<CellRule> all;
    for (std::string_view text : texts) all.push_back(ir::parse_cell_rule(text));
    return all;
  }();
  return rules;
}

}  // namespace tap::passes
