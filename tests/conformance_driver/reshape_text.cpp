#include "tests/conformance_driver/reshape_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tap::conformance {
namespace {

// A digit of the cells' row-major number. Shared digits stand in both shapes.
struct Digit {
  std::string name;
  std::int64_t size = 1;
  std::optional<std::size_t> from, to;  // the axis that it is a digit of
};

// The axis at hand on one side, and how much of it is still to be split into digits.
struct Side {
  const Shape& shape;
  std::size_t axis = 0;
  std::int64_t left = 1;  // of the axis at hand
  std::int64_t done = 1;  // product of all digits so far

  explicit Side(const Shape& s) : shape(s) { enter(); }
  bool more() const { return axis < shape.size(); }
  void enter() { left = more() ? shape[axis] : 1; }
  void take(std::int64_t size) {
    left /= size;
    done *= size;
    if (left == 1) {
      ++axis;
      enter();
    }
  }
  // The digit with which this side, which is behind, comes as near to the other one as it can.
  std::int64_t digit_towards(const Side& other) const {
    if (other.done % done == 0 && left % (other.done / done) == 0) return other.done / done;
    std::int64_t common = std::gcd(left, other.left);
    return left > common ? left / common : left;
  }
};

std::vector<Digit> digits_of(const Shape& from, const Shape& to) {
  std::vector<Digit> digits;
  Side a(from), b(to);
  auto add = [&](std::int64_t size, bool of_a, bool of_b) {
    Digit digit{fmt::format("i{}", digits.size()), size, {}, {}};
    if (of_a) digit.from = a.axis;
    if (of_b) digit.to = b.axis;
    if (of_a) a.take(size);
    if (of_b) b.take(size);
    digits.push_back(digit);
  };
  while (a.more() || b.more()) {
    if (a.more() && a.left == 1) add(1, true, false);
    else if (b.more() && b.left == 1) add(1, false, true);
    else if (a.done == b.done) {
      std::int64_t common = std::gcd(a.left, b.left);
      if (common > 1) add(common, true, true);
      else {
        add(a.left, true, false);
        add(b.left, false, true);
      }
    } else if (a.done < b.done) add(a.digit_towards(b), true, false);
    else add(b.digit_towards(a), false, true);
  }
  return digits;
}

// 4*i0 + i1 for the digits that are chosen; 0 if there is none but ones.
template <class Chosen>
std::string number(const std::vector<Digit>& digits, Chosen chosen) {
  std::string text;
  std::int64_t step = 1;
  for (std::size_t k = digits.size(); k-- > 0;) {
    if (!chosen(digits[k])) continue;
    text =
        (step == 1 ? digits[k].name : fmt::format("{}*{}", step, digits[k].name)) + (text.empty() ? "" : " + " + text);
    step *= digits[k].size;
  }
  return text.empty() ? "0" : text;
}

std::vector<std::string> axes(const std::vector<Digit>& digits, std::size_t rank,
                              std::optional<std::size_t> Digit::*side) {
  std::vector<std::string> list;
  for (std::size_t a = 0; a < rank; ++a) list.push_back(number(digits, [&](const Digit& d) { return d.*side == a; }));
  return list;
}

template <class Chosen>
std::string ranges(const std::vector<Digit>& digits, Chosen chosen) {
  std::string text;
  for (const Digit& d : digits)
    if (chosen(d)) text += fmt::format("{}{} in 0..{}", text.empty() ? " for " : ", ", d.name, d.size);
  return text;
}

// Runs of digits that only one side has, ones aside, become one axis of a tensor between.
void write_in_two(const std::vector<Digit>& digits, const TensorValue& x, const TensorValue& y, TapLines& lines) {
  std::vector<std::string> written, read;
  for (std::size_t k = 0; k < digits.size();) {
    if (digits[k].from && digits[k].to) {
      written.push_back(digits[k].name);
      read.push_back(digits[k++].name);
      continue;
    }
    std::size_t end = k;
    while (end < digits.size() && !(digits[end].from && digits[end].to)) ++end;
    std::vector<Digit> run(digits.begin() + static_cast<std::ptrdiff_t>(k),
                           digits.begin() + static_cast<std::ptrdiff_t>(end));
    written.push_back(number(run, [](const Digit& d) { return d.from && d.size != 1; }));
    read.push_back(number(run, [](const Digit& d) { return d.to && d.size != 1; }));
    k = end;
  }
  std::string between = "between_" + y.name;
  auto of_x = [](const Digit& d) { return d.from.has_value(); };
  auto of_y = [](const Digit& d) { return d.to.has_value(); };
  lines.body.push_back(fmt::format("{} = {}{}", cell(between, written),
                                   cell(x.name, axes(digits, x.shape.size(), &Digit::from)), ranges(digits, of_x)));
  lines.body.push_back(fmt::format("{} = {}{}", cell(y.name, axes(digits, y.shape.size(), &Digit::to)),
                                   cell(between, read), ranges(digits, of_y)));
}

// 12*i0 + 4*i1 + 1*i2
std::string flat_index(const TensorValue& t) {
  std::vector<std::int64_t> steps = row_major_strides(t.shape);
  std::string text;
  for (std::size_t a = 0; a < steps.size(); ++a) text += fmt::format("{}{}*i{}", a == 0 ? "" : " + ", steps[a], a);
  return text;
}
std::string over(const TensorValue& t) {
  std::string text;
  for (std::size_t a = 0; a < t.shape.size(); ++a)
    text += fmt::format("{}i{} in 0..{}", a == 0 ? " for " : ", ", a, t.shape[a]);
  return text;
}

}  // namespace

void write_reshape(const CaseOp& op, TapLines& lines) {
  const TensorValue &x = op.operands.at(0), &y = op.results.at(0);
  if (element_count(x.shape) != element_count(y.shape)) throw Malformed{"a reshape changes the number of cells"};
  if (element_count(x.shape) == 0) {  // no cells, hence no digits: by way of a vector of none
    std::string between = "between_" + y.name;
    lines.body.push_back(
        fmt::format("{}[{}] = {}{}", between, flat_index(x), cell(x.name, index_names(x.shape.size())), over(x)));
    lines.body.push_back(
        fmt::format("{} = {}[{}]{}", cell(y.name, index_names(y.shape.size())), between, flat_index(y), over(y)));
    return;
  }
  std::vector<Digit> digits = digits_of(x.shape, y.shape);
  bool one = std::all_of(digits.begin(), digits.end(), [](const Digit& d) { return d.size == 1 || (d.from && d.to); });
  if (!one) return write_in_two(digits, x, y, lines);
  // An axis of size 1 that only the operand has is read at 0.
  std::vector<Digit> read = digits;
  for (Digit& d : read)
    if (!d.to) d.from.reset();
  lines.body.push_back(fmt::format("{} = {}{}", cell(y.name, axes(digits, y.shape.size(), &Digit::to)),
                                   cell(x.name, axes(read, x.shape.size(), &Digit::from)),
                                   ranges(digits, [](const Digit& d) { return d.to.has_value(); })));
}

}  // namespace tap::conformance
