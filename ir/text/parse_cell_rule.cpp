#include "ir/cell_rule.h"

#include <cctype>

#include "support/check.h"

namespace tap::ir {

namespace {

struct InfixOperator {
  std::string_view spelling;
  CellOp op;
  int precedence;
};
constexpr InfixOperator infixes[] = {{"or", CellOp::logical_or, 1}, {"and", CellOp::logical_and, 2},
                                     {"==", CellOp::equal, 4},      {"!=", CellOp::not_equal, 4},
                                     {"<=", CellOp::less_equal, 4}, {"<", CellOp::less, 4},
                                     {"+", CellOp::add, 5},         {"-", CellOp::sub, 5},
                                     {"*", CellOp::mul, 6},         {"/", CellOp::div, 6},
                                     {"%", CellOp::mod, 6}};

class RuleParser {
 public:
  explicit RuleParser(std::string_view text) : text_(text), rest_(text) { rule_.text = text; }

  CellRule parse() {
    rule_.left = expression(1);
    expect("=");
    rule_.right = expression(1);
    rule_.is_constant.resize(rule_.variables.size());
    if (eat("[")) conditions();
    TAP_CHECK(blank().empty(),
              "unexpected text at the end of the rule `" + std::string(text_) + "`: " + std::string(rest_));
    return rule_;
  }

 private:
  std::string_view blank() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
    return rest_;
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.'; }
  bool eat(std::string_view word) {
    if (!blank().starts_with(word)) return false;
    if (is_word(word.back()) && rest_.size() > word.size() && is_word(rest_[word.size()])) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word) {
    TAP_CHECK(eat(word), "the rule `" + std::string(text_) + "` lacks `" + std::string(word) + "`");
  }

  RuleTerm expression(int precedence) {
    RuleTerm left = unary();
    while (const InfixOperator* infix = next_infix(precedence)) {
      RuleTerm right = expression(infix->precedence + 1);
      left = {RuleTerm::operation, 0, infix->op, {std::move(left), std::move(right)}};
    }
    return left;
  }
  const InfixOperator* next_infix(int precedence) {
    for (const InfixOperator& infix : infixes)
      if (infix.precedence >= precedence && eat(infix.spelling)) return &infix;
    return nullptr;
  }

  RuleTerm unary() {
    if (eat("not")) return {RuleTerm::operation, 0, CellOp::logical_not, {expression(3)}};
    if (!eat("-")) return primary();
    RuleTerm operand = unary();
    if (operand.kind != RuleTerm::number) return {RuleTerm::operation, 0, CellOp::neg, {std::move(operand)}};
    if (operand.value == 0) return {RuleTerm::minus_zero};
    return {RuleTerm::number, -operand.value};
  }
  RuleTerm primary() {
    if (eat("(")) {
      RuleTerm inner = expression(1);
      expect(")");
      return inner;
    }
    if (eat("true")) return {RuleTerm::truth, 1};
    if (eat("false")) return {RuleTerm::truth, 0};
    if (eat("T.min")) return {RuleTerm::least};
    if (eat("T.max")) return {RuleTerm::greatest};
    for (char digit : {'0', '1'})
      if (eat(std::string_view(&digit, 1))) return {RuleTerm::number, digit - '0'};
    std::string name = word();
    return name.size() == 1 ? variable(name[0]) : call(name);
  }
  std::string word() {
    blank();
    std::size_t size = 0;
    while (size < rest_.size() && is_word(rest_[size])) ++size;
    TAP_CHECK(size > 0, "a term is missing in the rule `" + std::string(text_) + "`");
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }
  RuleTerm variable(char letter) {
    std::size_t at = rule_.variables.find(letter);
    if (at == std::string::npos) {
      at = rule_.variables.size();
      rule_.variables += letter;
    }
    return {RuleTerm::variable, static_cast<std::int64_t>(at)};
  }
  RuleTerm call(const std::string& name) {
    RuleTerm term{RuleTerm::operation, 0, operation(name)};
    expect("(");
    do term.args.push_back(expression(1));
    while (eat(","));
    expect(")");
    return term;
  }
  CellOp operation(const std::string& name) const {
    for (std::size_t k = 0; k < cell_op_count; ++k)
      if (info(CellOp(k)).spelling == name || info(CellOp(k)).name == name) return CellOp(k);
    TAP_UNREACHABLE("the rule `" + std::string(text_) + "` has an unknown operation " + name);
  }

  void conditions() {
    if (!eat(";") && !blank().starts_with("constant")) types();
    if (eat("constant"))
      while (!eat("]")) rule_.is_constant[rule_.variables.find(word()[0])] = true;
  }
  void types() {
    rule_.integers = rule_.floats = rule_.booleans = false;
    do {
      std::string name = word();
      bool& named = name == "integers" ? rule_.integers : name == "floats" ? rule_.floats : rule_.booleans;
      TAP_CHECK(name == "integers" || name == "floats" || name == "bool",
                "unknown types in `" + std::string(text_) + "`");
      named = true;
    } while (eat(","));
    if (!eat(";")) expect("]");
  }

  std::string_view text_, rest_;
  CellRule rule_;
};

void mark_variables(const RuleTerm& term, std::vector<bool>& found) {
  if (term.kind == RuleTerm::variable) found[static_cast<std::size_t>(term.value)] = true;
  for (const RuleTerm& arg : term.args) mark_variables(arg, found);
}

// The variables that a side may evaluate: not those in a branch that a constant condition excludes.
void mark_computed(const RuleTerm& term, std::vector<bool>& found) {
  if (term.kind == RuleTerm::variable) found[static_cast<std::size_t>(term.value)] = true;
  bool decided = !term.args.empty() && term.args[0].kind == RuleTerm::truth;
  for (std::size_t k = 0; k < term.args.size(); ++k) {
    bool shut = decided && ((term.op == CellOp::select && k == (term.args[0].value ? 2u : 1u)) ||
                            (term.op == CellOp::logical_and && k == 1 && !term.args[0].value) ||
                            (term.op == CellOp::logical_or && k == 1 && term.args[0].value));
    if (!shut) mark_computed(term.args[k], found);
  }
}

}  // namespace

CellRule parse_cell_rule(std::string_view text) {
  CellRule rule = RuleParser(text).parse();
  std::vector<bool> left(rule.variables.size()), right(rule.variables.size());
  mark_computed(rule.left, left);
  mark_variables(rule.right, right);
  for (std::size_t v = 0; v < left.size(); ++v) rule.may_not_fail.push_back(left[v] && !right[v]);
  return rule;
}

bool CellRule::fits(ElementType type) const {
  if (is_bool(type)) return booleans;
  return is_float(type) ? floats : integers;
}

}  // namespace tap::ir
