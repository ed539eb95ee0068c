#include "passes/rewrites/semiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ir/interpret/interpret_number.h"

namespace tap::passes {

using namespace ir;
using oracle::Number;

namespace {

constexpr CellOp products[] = {CellOp::mul,    CellOp::add,     CellOp::min,         CellOp::max,       CellOp::bitand_,
                               CellOp::bitor_, CellOp::bitxor_, CellOp::logical_and, CellOp::logical_or};

std::vector<Number> samples(ElementType type) {
  std::vector<Number> numbers;
  if (is_float(type)) {
    for (double f : {-1048576.0, -3.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 5.0, 1048576.0})
      numbers.push_back(oracle::number(f));
  } else if (is_bool(type)) {
    numbers = {oracle::integer(0), oracle::integer(1)};
  } else {
    const std::int64_t least = least_integer(type), greatest = greatest_integer(type);
    for (std::int64_t i : {least, least + 1, std::int64_t{-2}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1},
                           std::int64_t{2}, std::int64_t{3}, std::int64_t{100}, greatest - 1, greatest})
      if (least <= i && i <= greatest) numbers.push_back(oracle::integer(i));
  }
  return numbers;
}

bool same(ElementType type, Number a, Number b) { return is_float(type) ? a.f == b.f : a.i == b.i; }

// One cell operation on numbers; throws CellFailure if it has no value.
Number apply(CellOp op, ElementType from, ElementType to, const std::vector<Number>& args) {
  auto arg = [&](std::size_t k) { return k < args.size() ? args[k] : oracle::integer(0); };
  switch (op) {
    case CellOp::logical_and: return oracle::integer(arg(0).i && arg(1).i);
    case CellOp::logical_or: return oracle::integer(arg(0).i || arg(1).i);
    case CellOp::select: return arg(0).i ? arg(1) : arg(2);
    case CellOp::cast: return oracle::apply_cast(from, to, arg(0));
    default: break;
  }
  if (!is_strict(op)) throw oracle::CellFailure{"not an operation on numbers"};
  return is_float(from) ? oracle::apply_float(op, arg(0), arg(1)) : oracle::apply_integer(op, from, arg(0), arg(1));
}

// ⊕ and ⊗ of one type, on numbers.
class Laws {
 public:
  Laws(const Monoid& plus, CellOp times) : plus_(plus), times_(times), type_(plus.components[0].type) {}

  bool holds() const {
    const Number identity = oracle::number_of(plus_.exprs[plus_.identity[0]].value);
    const std::vector<Number> numbers = samples(type_);
    for (Number a : numbers) {
      if (!same(type_, times(a, identity), identity)) return false;
      for (Number b : numbers) {
        if (!same(type_, plus(a, b), plus(b, a))) return false;
        for (Number c : numbers)
          if (!same(type_, times(a, plus(b, c)), plus(times(a, b), times(a, c)))) return false;
      }
    }
    return true;
  }

 private:
  Number times(Number a, Number b) const { return apply(times_, type_, type_, {a, b}); }
  Number plus(Number a, Number b) const {
    std::vector<Number> values;
    for (std::size_t k = 0; k < plus_.exprs.size(); ++k) {
      const CellNode& node = plus_.exprs[CellId(k)];
      std::vector<Number> args;
      for (CellId arg : node.args) args.push_back(values[arg.index()]);
      const ElementType from = node.args.empty() ? node.type : plus_.exprs[node.args[0]].type;
      if (node.op == CellOp::constant) values.push_back(oracle::number_of(node.value));
      else if (node.op == CellOp::argument) values.push_back(node.attribute == 0 ? a : b);
      else values.push_back(apply(node.op, from, node.type, args));
    }
    return values[plus_.combine[0].index()];
  }

  const Monoid& plus_;
  CellOp times_;
  ElementType type_;
};

// b + c, min(b, c); a user's monoid by its name.
std::string combined(const Monoid& plus, const std::string& b, const std::string& c) {
  const CellNode& node = plus.exprs[plus.combine[0]];
  bool plain = node.args.size() == 2 && plus.exprs[node.args[0]].op == CellOp::argument &&
               plus.exprs[node.args[1]].op == CellOp::argument;
  std::string name = plain ? std::string(info(node.op).spelling) : plus.name;
  bool infix = plain && (info(node.op).kind == CellKind::lazy || !std::isalpha(static_cast<unsigned char>(name[0])));
  return infix ? fmt::format("{} {} {}", b, name, c) : fmt::format("{}({}, {})", name, b, c);
}
std::string product(CellOp times, const std::string& a, const std::string& b) {
  std::string name(info(times).spelling);
  bool infix = info(times).kind == CellKind::lazy || !std::isalpha(static_cast<unsigned char>(name[0]));
  return infix ? fmt::format("{} {} {}", a, name, b) : fmt::format("{}({}, {})", name, a, b);
}

std::string text_of(const Monoid& plus, CellOp times) {
  std::string sum = combined(plus, "b", "c");
  const bool infix = sum.back() != ')', product_infix = product(times, "a", "b").back() != ')';
  std::string left = product(times, "a", infix && product_infix ? "(" + sum + ")" : sum);
  auto part = [&](const char* x) {
    std::string text = product(times, "a", x);
    return infix && product_infix && times != CellOp::mul ? "(" + text + ")" : text;
  };
  return left + " = " + combined(plus, part("b"), part("c"));
}

}  // namespace

bool may_be_product(CellOp op) { return std::find(std::begin(products), std::end(products), op) != std::end(products); }

std::optional<std::string> distributes(const Monoid& plus, CellOp times) {
  if (!may_be_product(times) || plus.arity() != 1) return std::nullopt;
  const ElementType type = plus.components[0].type;
  const CellArguments takes = info(times).arguments;
  if ((takes == CellArguments::bools) != is_bool(type) && takes != CellArguments::any) return std::nullopt;
  if (takes == CellArguments::integers && is_float(type)) return std::nullopt;
  auto broken = [](Law law) { return law == Law::broken || law == Law::unknown; };
  if (broken(plus.laws.associative) || broken(plus.laws.identity) || broken(plus.laws.commutative)) return std::nullopt;
  try {
    if (Laws(plus, times).holds()) return text_of(plus, times);
  } catch (const oracle::CellFailure&) {}  // it has no value for some numbers
  return std::nullopt;
}

}  // namespace tap::passes
