// Formulas of machine files: they compute seconds from the work of an operation.
//
//   "2e-9 * calls + max(bytes_memory / 20e9, compute)"
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cost/model/cost.h"

namespace tap::cost {

struct FormulaError {
  std::size_t at = 0;  // in the text
  std::string what;
};

class Formula {
 public:
  double of(const std::vector<Amount>& values) const;  // unknown names are 0
  std::set<std::string> names() const;

 private:
  friend class FormulaParser;
  enum class Step : std::uint8_t { number, name, add, sub, mul, div, min, max };
  struct Part {
    Step step = Step::number;
    double number = 0;
    std::string name = {};
  };
  std::vector<Part> parts_;  // operands before their users
};

std::variant<Formula, FormulaError> read_formula(std::string_view text);
// Pre: read_formula accepts it.
Formula parse_formula(std::string_view text);

}  // namespace tap::cost
