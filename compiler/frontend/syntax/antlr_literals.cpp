// Literals: integers of 64 bits, floats with checks for overflow and underflow.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "compiler/frontend/syntax/antlr_support.h"
#include "compiler/frontend/syntax/syntax_habits.h"

namespace tap {

using ast::ExprId;

namespace {

// The decimal exponent of a number's leading digit, to distinguish overflow from underflow; nothing for zero.
std::optional<long> magnitude(std::string_view text) {
  std::size_t e = text.find_first_of("eE");
  std::string_view digits = text.substr(0, e);
  std::size_t dot = std::min(digits.find('.'), digits.size());
  std::size_t first = digits.find_first_not_of("0.");
  if (first == std::string_view::npos) return std::nullopt;
  long exponent = first < dot ? static_cast<long>(dot - first) - 1 : -static_cast<long>(first - dot);
  if (e == std::string_view::npos) return exponent;
  bool negative = text[e + 1] == '-';
  std::string_view power = text.substr(e + 1 + (negative || text[e + 1] == '+'));
  long value = 0;
  for (char c : power) value = std::min(value * 10 + (c - '0'), 1'000'000'000L);
  return exponent + (negative ? -value : value);
}

std::string shortened(const std::string& text) { return text.size() <= 40 ? text : text.substr(0, 37) + "..."; }

}  // namespace

ExprId AstBuilder::integer(antlr4::Token* t) {
  std::string digits = text(t);
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || value >= two_to_63)
    fail(Diagnostic(
             Code::literal_out_of_range, span(t),
             fmt::format("`{}` does not fit in 64 bits: the largest integer is 9223372036854775807", shortened(digits)))
             .help("for a float, add a decimal point"));
  return add(span(t), ast::IntLiteral{value, false});
}

ExprId AstBuilder::floating(antlr4::Token* t) {
  std::string digits = text(t);
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    auto size = magnitude(digits);
    if (size && *size > 0)
      fail(
          Diagnostic(Code::literal_out_of_range, span(t),
                     fmt::format("`{}` is out of range for f64: the largest value is about 1.8e308", shortened(digits)))
              .help("write infinity as `inf`")
              .fix(span(t), "inf"));
    value = 0;
  }
  if (value == 0 && magnitude(digits))
    diagnostics_.report(
        Diagnostic(Code::literal_underflow, span(t),
                   fmt::format("`{}` rounds to 0: the smallest positive f64 is about 4.9e-324", shortened(digits)))
            .help("write `0.0`")
            .fix(span(t), "0.0"));
  return add(span(t), ast::FloatLiteral{value, std::move(digits)});
}

ExprId AstBuilder::literal(antlr4::Token* t) {
  switch (kind(t)) {
    case TokenKind::integer: return integer(t);
    case TokenKind::float_: return floating(t);
    case TokenKind::true_: return add(span(t), ast::BoolLiteral{true});
    case TokenKind::false_: return add(span(t), ast::BoolLiteral{false});
    case TokenKind::inf: return add(span(t), ast::FloatLiteral{std::numeric_limits<double>::infinity(), "inf"});
    case TokenKind::nan: return add(span(t), ast::FloatLiteral{std::numeric_limits<double>::quiet_NaN(), "nan"});
    default: break;
  }
  Diagnostic habit(Code::syntax, span(t), "a string is not a value: only `kernel \"…\"` takes one");
  habit_of_einsum(list_, t->getTokenIndex(), habit);
  fail(std::move(habit));
}

std::int64_t AstBuilder::whole_number(antlr4::Token* t) {
  ExprId id = integer(t);
  return static_cast<std::int64_t>(node<ast::IntLiteral>(id)->magnitude);
}

}  // namespace tap
