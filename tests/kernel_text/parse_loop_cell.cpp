#include "tests/kernel_text/parse_loop_cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/loops/loops_words.h"

namespace tap::backend {

using namespace ir;

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view word_ahead(std::string_view text) {
  std::size_t n = 0;
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  while (n < text.size() && (is_letter(text[n]) || (n > 0 && is_digit(text[n])))) ++n;
  return text.substr(0, n);
}

// inf, nan_f64
bool is_float_word(std::string_view word) {
  return (word.starts_with("inf") || word.starts_with("nan")) && (word.size() == 3 || word[3] == '_');
}

// The operation that is written as a call: max(a, b).
std::optional<CellOp> function_named(std::string_view name) {
  for (std::size_t k = 0; k < cell_op_count; ++k) {
    auto op = static_cast<CellOp>(k);
    bool called = info(op).arity > 0 && info(op).kind != CellKind::lazy && info(op).kind != CellKind::reduction &&
                  info(op).kind != CellKind::cast;
    if (called && info(op).spelling == name) return op;
  }
  return {};
}

}  // namespace

CellId CellParser::apply(CellOp op, std::vector<CellId> args) {
  ElementType type = kernel_.exprs[args[op == CellOp::select ? 1 : 0]].type;
  if (info(op).result == CellResult::boolean) type = ElementType::boolean;
  return kernel_.exprs.apply(op, type, std::move(args));
}

// Longer spellings come first in the list: <= before <.
std::optional<CellOp> CellParser::eat_one_of(Operations operations) {
  for (CellOp op : operations) {
    std::string_view spelling = info(op).spelling;
    bool word = spelling[0] >= 'a' && spelling[0] <= 'z';
    if (word ? line_.eat_word(spelling) : line_.eat(spelling)) return op;
  }
  return {};
}

CellId CellParser::cell() {
  constexpr int deep = 300;
  if (++depth_ > deep) line_.fail("cells are nested too deeply");
  CellId result = line_.eat_word("if") ? choice() : infix(0);
  --depth_;
  return result;
}

CellId CellParser::choice() {
  CellId condition = cell();
  line_.expect_word("then");
  CellId then_side = cell();
  line_.expect_word("else");
  CellId else_side = cell();
  return apply(CellOp::select, {condition, then_side, else_side});
}

// Operations that take an equal level on their left, from the loosest to the tightest.
CellId CellParser::infix(std::size_t level) {
  static const Operations levels[] = {
      {CellOp::logical_or}, {CellOp::logical_and}, {CellOp::add, CellOp::sub}, {CellOp::mul, CellOp::div, CellOp::mod}};
  auto next = [&] {
    if (level == 1) return negation();
    return level == 3 ? sign() : infix(level + 1);
  };
  CellId left = next();
  while (auto op = eat_one_of(levels[level])) {
    CellId right = next();
    left = apply(*op, {left, right});
  }
  return left;
}

CellId CellParser::negation() {
  if (!line_.eat_word("not")) return comparison();
  CellId operand = negation();
  return apply(CellOp::logical_not, {operand});
}

CellId CellParser::comparison() {
  CellId left = infix(2);
  auto op = eat_one_of({CellOp::equal, CellOp::not_equal, CellOp::less_equal, CellOp::less});
  if (!op) return left;
  CellId right = infix(2);
  return apply(*op, {left, right});
}

// A number with its sign, or true, inf, nan.
bool CellParser::at_number() const {
  std::string_view rest = line_.rest();
  if (rest.starts_with('-')) rest.remove_prefix(1);
  if (rest.empty()) return false;
  std::string_view word = word_ahead(rest);
  return is_digit(rest[0]) || is_float_word(word) || word == "true" || word == "false";
}

CellId CellParser::sign() {
  if (at_number() || !line_.eat("-")) return atom();
  CellId operand = atom();
  return apply(CellOp::neg, {operand});
}

// 2 is i64 and 2.0 is f32; what is neither says it: 2.0_f64
CellId CellParser::constant() {
  std::string_view rest = line_.rest();
  std::size_t n = rest.starts_with('-') ? 1 : 0;
  bool floating = false;
  std::string_view word = word_ahead(rest.substr(n));
  if (word == "true" || word == "false") return kernel_.exprs.constant(line_.scalar(ElementType::boolean));
  if (!word.empty()) {
    n += 3;
    floating = true;
  }
  for (; n < rest.size() && word.empty(); ++n) {
    bool exponent = rest[n] == 'e' || ((rest[n] == '+' || rest[n] == '-') && rest[n - 1] == 'e');
    if (!is_digit(rest[n]) && rest[n] != '.' && !exponent) break;
    floating = floating || !is_digit(rest[n]);
  }
  ElementType type = floating ? ElementType::f32 : ElementType::i64;
  std::size_t end = n;
  if (n < rest.size() && rest[n] == '_') {
    std::string_view suffix = word_ahead(rest.substr(n + 1));
    auto named = element_type_named(suffix);
    if (!named) line_.fail(fmt::format("`{}` is not an element type", suffix));
    type = *named;
    end += 1 + suffix.size();
  }
  Line digits(rest.substr(0, n), line_.number());
  Scalar value;
  try {
    value = digits.scalar(type);
    digits.expect_end();
  } catch (const TextFailure& failure) { line_.fail(failure.message); }
  line_.take(end);
  return kernel_.exprs.constant(value);
}

CellId CellParser::call(CellOp op) {
  auto args = line_.list("(", ")", [this] { return cell(); });
  auto arity = static_cast<std::size_t>(info(op).arity);
  if (args.size() != arity)
    line_.fail(fmt::format("`{}` takes {} arguments, got {}", info(op).spelling, arity, args.size()));
  return apply(op, std::move(args));
}

bool CellParser::at_accumulator() const { return is_accumulator(Line(line_).word()); }

std::uint32_t CellParser::slot() {
  if (!at_accumulator()) line_.fail("an accumulator is missing");
  std::string_view word = line_.word();
  Slot slot;
  slot.accumulator = Line(word.substr(3), line_.number()).any_number();
  slot.at = AffineExpr::constant(kernel_.variables.size(), 0);
  if (line_.eat("[")) {
    slot.at = affine();
    line_.expect("]");
  }
  auto found = std::find(kernel_.slots.begin(), kernel_.slots.end(), slot);
  auto number = static_cast<std::uint32_t>(found - kernel_.slots.begin());
  if (slot.accumulator >= kernel_.accumulators.size())
    line_.fail(fmt::format("acc{} is out of range for {} accumulators", slot.accumulator, kernel_.accumulators.size()));
  if (found == kernel_.slots.end()) kernel_.slots.push_back(std::move(slot));
  return number;
}

std::uint32_t CellParser::tensor() {
  std::size_t begin = line_.column();
  std::string_view name = line_.word();
  auto found = names_.tensors.find(name);
  if (found == names_.tensors.end()) line_.fail_at(begin, fmt::format("`{}` is not a tensor", name));
  return found->second;
}

Coordinate CellParser::coordinate() {
  Coordinate result;
  result.affine = AffineExpr::constant(kernel_.variables.size(), 0);
  if (line_.eat("(")) {
    result.data = cell();
    line_.expect(")");
  } else {
    result.affine = affine();
  }
  result.checked = line_.eat("?");
  return result;
}

CellId CellParser::read(std::uint32_t tensor) {
  Load load;
  load.tensor = tensor;
  line_.expect("[");
  auto at_end = [&] { return line_.rest().starts_with(']') || word_ahead(line_.rest()) == "else"; };
  while (!at_end()) {
    load.at.push_back(coordinate());
    if (!at_end()) line_.expect(",");
  }
  if (line_.eat_word("else")) load.fill = cell();
  line_.expect("]");
  load.anywhere = line_.rest().starts_with("!=") || !line_.eat("!");
  auto found = std::find(kernel_.loads.begin(), kernel_.loads.end(), load);
  auto number = static_cast<std::uint32_t>(found - kernel_.loads.begin());
  if (found == kernel_.loads.end()) kernel_.loads.push_back(std::move(load));
  return kernel_.exprs.read(number, kernel_.tensors[tensor].type.element);
}

CellId CellParser::atom() {
  if (at_number()) return constant();
  if (line_.eat("(")) {
    CellId inside = cell();
    line_.expect(")");
    return inside;
  }
  if (line_.rest().starts_with('%')) {
    std::string name(line_.rest().substr(0, 1));
    line_.eat("%");
    name += std::to_string(line_.any_number());
    auto found = names_.cells.find(name);
    if (found == names_.cells.end()) line_.fail(fmt::format("`{}` has no cell yet", name));
    return found->second;
  }
  if (at_accumulator()) {
    std::uint32_t number = slot();
    ElementType type = kernel_.accumulators[kernel_.slots[number].accumulator].type;
    return kernel_.exprs.argument(number, type);
  }
  std::size_t begin = line_.column();
  std::string_view name = line_.word();
  if (line_.rest().starts_with('[')) {
    auto found = names_.tensors.find(name);
    if (found == names_.tensors.end()) line_.fail_at(begin, fmt::format("`{}` is not a tensor", name));
    return read(found->second);
  }
  if (line_.at_parenthesis()) {
    if (auto op = function_named(name)) return call(*op);
    auto type = element_type_named(name);
    if (!type) line_.fail_at(begin, fmt::format("`{}` is not a function", name));
    line_.expect("(");
    CellId value = cell();
    line_.expect(")");
    return kernel_.exprs.apply(CellOp::cast, *type, {value});
  }
  auto variable = std::find(kernel_.variables.begin(), kernel_.variables.end(), name);
  if (variable == kernel_.variables.end()) line_.fail_at(begin, fmt::format("`{}` is not a variable", name));
  return kernel_.exprs.index(static_cast<std::uint32_t>(variable - kernel_.variables.begin()));
}

}  // namespace tap::backend
