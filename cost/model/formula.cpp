#include "cost/model/formula.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "support/check.h"

namespace tap::cost {

double Formula::of(const std::vector<Amount>& values) const {
  std::vector<double> stack;
  auto pop = [&] {
    const double top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Part& part : parts_) {
    if (part.step == Step::number) {
      stack.push_back(part.number);
      continue;
    }
    if (part.step == Step::name) {
      auto found = std::find_if(values.begin(), values.end(), [&](const Amount& a) { return a.name == part.name; });
      stack.push_back(found == values.end() ? 0 : found->value);
      continue;
    }
    const double b = pop(), a = pop();
    switch (part.step) {
      case Step::add: stack.push_back(a + b); break;
      case Step::sub: stack.push_back(a - b); break;
      case Step::mul: stack.push_back(a * b); break;
      case Step::div: stack.push_back(b == 0 ? 0 : a / b); break;
      case Step::min: stack.push_back(std::min(a, b)); break;
      case Step::max: stack.push_back(std::max(a, b)); break;
      case Step::number:
      case Step::name: break;
    }
  }
  return std::isfinite(stack.back()) ? stack.back() : 0;
}

std::set<std::string> Formula::names() const {
  std::set<std::string> all;
  for (const Part& part : parts_)
    if (part.step == Step::name) all.insert(part.name);
  return all;
}

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  std::variant<Formula, FormulaError> read() {
    sum(0);
    if (error_.empty() && at_ < text_.size()) fail("expected an operator: +, -, *, /");
    if (!error_.empty()) return FormulaError{error_at_, error_};
    return std::move(formula_);
  }

 private:
  static constexpr int most_nested = 50;

  void fail(const char* what) {
    if (!error_.empty()) return;
    error_ = what;
    error_at_ = at_;
  }
  void space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    space();
    return true;
  }
  void step(Formula::Step step) { formula_.parts_.push_back({step}); }

  void sum(int depth) {
    product(depth);
    while (error_.empty())
      if (take('+')) product(depth), step(Formula::Step::add);
      else if (take('-')) product(depth), step(Formula::Step::sub);
      else return;
  }
  void product(int depth) {
    one(depth);
    while (error_.empty())
      if (take('*')) one(depth), step(Formula::Step::mul);
      else if (take('/')) one(depth), step(Formula::Step::div);
      else return;
  }
  void one(int depth) {
    space();
    if (depth > most_nested) return fail("is nested too deeply");
    if (take('(')) {
      sum(depth + 1);
      if (error_.empty() && !take(')')) fail("expected `)`");
      return;
    }
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if ((c >= '0' && c <= '9') || c == '.') return number();
    if ((c >= 'a' && c <= 'z') || c == '_') return name(depth);
    fail("expected a number, a name or `(`");
  }
  void number() {
    double value = 0;
    auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return fail("is not a finite number");
    at_ = static_cast<std::size_t>(stop - text_.data());
    formula_.parts_.push_back({Formula::Step::number, value});
  }
  void name(int depth) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word != "min" && word != "max") {
      formula_.parts_.push_back({Formula::Step::name, 0, word});
      return;
    }
    if (!take('(')) return fail("expected `(` and two values");
    sum(depth + 1);
    if (error_.empty() && !take(',')) return fail("expected `,` and a second value");
    sum(depth + 1);
    if (error_.empty() && !take(')')) return fail("expected `)`");
    step(word == "min" ? Formula::Step::min : Formula::Step::max);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Formula formula_;
  std::string error_;
  std::size_t error_at_ = 0;
};

std::variant<Formula, FormulaError> read_formula(std::string_view text) { return FormulaParser(text).read(); }

Formula parse_formula(std::string_view text) {
  auto read = read_formula(text);
  auto* formula = std::get_if<Formula>(&read);
  TAP_CHECK(formula, "a formula of the machine file was not checked");
  return std::move(*formula);
}

}  // namespace tap::cost
