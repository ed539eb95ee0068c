#include "tests/conformance_driver/op_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/conformance_driver/convolution_text.h"
#include "tests/conformance_driver/kinds.h"
#include "tests/conformance_driver/reduce_text.h"
#include "tests/conformance_driver/reshape_text.h"
#include "tests/conformance_driver/rule_text.h"

namespace tap::conformance {
namespace {

using Names = std::vector<std::string>;

// Over the whole of a result: also where nothing that is read says how far.
std::string over(const Names& names, const Shape& shape) {
  std::string text;
  for (std::size_t a = 0; a < names.size(); ++a)
    text += fmt::format("{}{} in 0..{}", a == 0 ? " for " : ", ", names.at(a), shape[a]);
  return text;
}

// {0} stands for the first operand's cell, and so on. A scalar among tensors is read at every point.
struct Elementwise {
  std::string_view op, cell;
};
constexpr Elementwise elementwise[] = {
    {"abs", "abs({0})"},
    {"add", "{0} + {1}"},
    {"and", "{0} and {1}"},
    {"clamp", "min(max({1}, {0}), {2})"},
    {"cosine", "cos({0})"},
    {"divide", "{0} / {1}"},
    {"exponential", "exp({0})"},
    {"log", "log({0})"},
    {"maximum", "max({0}, {1})"},
    {"minimum", "min({0}, {1})"},
    {"multiply", "{0} * {1}"},
    {"negate", "-{0}"},
    {"optimization_barrier", "{0}"},
    {"propagation_barrier", "{0}"},
    {"select", "if {0} then {1} else {2}"},
    {"sharding_constraint", "{0}"},
    {"sine", "sin({0})"},
    {"sqrt", "sqrt({0})"},
    {"subtract", "{0} - {1}"},
    {"tanh", "tanh({0})"},
};

std::string filled(std::string_view pattern, const std::vector<std::string>& cells) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '{') text += pattern[at];
    else {
      std::size_t number = static_cast<std::size_t>(pattern[at + 1] - '0');
      if (number >= cells.size()) throw Untranslatable{"an operand is missing"};
      text += cells.at(number);
      at += 2;
    }
  }
  return text;
}

void write_elementwise(const CaseOp& op, std::string_view pattern, TapLines& lines) {
  // Of several results each has the operand of its number.
  for (std::size_t r = 0; r < op.results.size(); ++r) {
    Names names = index_names(op.results.at(r).shape.size());
    std::vector<std::string> cells;
    for (std::size_t k = 0; k < op.operands.size(); ++k) {
      const TensorValue& operand = op.operands.at(op.results.size() > 1 ? r : k);
      cells.push_back(cell(operand.name, operand.shape.empty() ? Names{} : names));
    }
    lines.body.push_back(fmt::format("{} = {}", cell(op.results.at(r).name, names), filled(pattern, cells)));
  }
}

void write_constant(const CaseOp& op, TapLines& lines) {
  const TensorValue& y = op.results.at(0);
  Names names = index_names(y.shape.size());
  std::string zero = y.type == "bool" ? "false" : y.type + "(0)";
  lines.body.push_back(fmt::format("{} = {}{}", cell(y.name, names), zero, over(names, y.shape)));
}

void write_broadcast(const CaseOp& op, TapLines& lines) {
  const TensorValue &x = op.operands.at(0), &y = op.results.at(0);
  std::vector<std::int64_t> dims = op.attributes.integers("dims");
  Names names = index_names(y.shape.size()), read;
  for (std::size_t a = 0; a < x.shape.size(); ++a) {
    auto to = static_cast<std::size_t>(dims.at(a));
    read.push_back(x.shape.at(a) == 1 && y.shape.at(to) != 1 ? "0" : names.at(to));
  }
  lines.body.push_back(fmt::format("{} = {}{}", cell(y.name, names), cell(x.name, read), over(names, y.shape)));
}

void write_transpose(const CaseOp& op, TapLines& lines) {
  std::vector<std::int64_t> dims = op.attributes.integers(op.attributes.has("perm") ? "perm" : "dims");
  Names names = index_names(dims.size()), read(dims.size());
  for (std::size_t a = 0; a < dims.size(); ++a) read.at(static_cast<std::size_t>(dims[a])) = names.at(a);
  lines.body.push_back(fmt::format("{} = {}", cell(op.results.at(0).name, names), cell(op.operands.at(0).name, read)));
}

void write_reverse(const CaseOp& op, TapLines& lines) {
  const TensorValue& x = op.operands.at(0);
  Names names = index_names(x.shape.size()), read = names;
  for (std::int64_t a : op.attributes.integers("dims"))
    read.at(static_cast<std::size_t>(a)) =
        fmt::format("{} - {}", x.shape.at(static_cast<std::size_t>(a)) - 1, names.at(static_cast<std::size_t>(a)));
  lines.body.push_back(
      fmt::format("{} = {}{}", cell(op.results.at(0).name, names), cell(x.name, read), over(names, x.shape)));
}

// 0:32, 1:2, 4:8:2
void write_slice(const CaseOp& op, TapLines& lines) {
  std::string ranges = op.attributes.word("ranges");
  if (ranges.empty()) ranges = op.attributes.text();
  const TensorValue& y = op.results.at(0);
  Names names = index_names(y.shape.size()), read;
  std::vector<std::int64_t> numbers;  // of one axis
  auto close = [&] {
    if (numbers.empty()) return;
    std::string index = numbers.size() > 2 && numbers[2] != 1 ? fmt::format("{}*{}", numbers[2], names.at(read.size()))
                                                              : names.at(read.size());
    if (numbers[0] != 0) index += fmt::format(" + {}", numbers[0]);
    read.push_back(index);
    numbers.clear();
  };
  bool digit = false;
  for (char c : ranges) {
    if (c == ',' || c == ']') close();
    bool now = std::isdigit(static_cast<unsigned char>(c));
    if (now && !digit) numbers.push_back(0);
    if (now) numbers.back() = numbers.back() * 10 + (c - '0');
    digit = now;
  }
  close();
  lines.body.push_back(
      fmt::format("{} = {}{}", cell(y.name, names), cell(op.operands.at(0).name, read), over(names, y.shape)));
}

void write_concatenate(const CaseOp& op, TapLines& lines) {
  auto dim = static_cast<std::size_t>(op.attributes.integer("dim", 0));
  std::int64_t start = 0;
  for (const TensorValue& x : op.operands) {
    Names names = index_names(x.shape.size()), written = names;
    if (start != 0) written.at(dim) = fmt::format("{} + {}", start, names.at(dim));
    lines.body.push_back(
        fmt::format("{} = {}{}", cell(op.results.at(0).name, written), cell(x.name, names), over(names, x.shape)));
    start += x.shape.at(dim);
  }
}

void write_pad(const CaseOp& op, TapLines& lines) {
  const TensorValue &x = op.operands.at(0), &y = op.results.at(0);
  std::vector<std::int64_t> low = op.attributes.integers("low"), interior = op.attributes.integers("interior");
  if (std::any_of(interior.begin(), interior.end(), [](std::int64_t n) { return n != 0; }))
    throw Untranslatable{"padding between the cells is not translated"};
  std::vector<std::int64_t> high = op.attributes.integers("high");
  Names names = index_names(y.shape.size()), read = names;
  bool padded = false;
  for (std::size_t a = 0; a < low.size(); ++a) {
    if (low.at(a) != 0)
      read.at(a) = fmt::format("{} {} {}", names.at(a), low.at(a) < 0 ? '+' : '-', std::abs(low.at(a)));
    padded = padded || low.at(a) > 0 || high.at(a) > 0;
  }
  if (padded) read.back() += fmt::format(" else {}[]", op.operands.at(1).name);
  lines.body.push_back(fmt::format("{} = {}{}", cell(y.name, names), cell(x.name, read), over(names, y.shape)));
}

// Products: batch dims, the free dims of the left and then of the right; contracted ones are summed.
void write_dot(const CaseOp& op, TapLines& lines) {
  const TensorValue &x = op.operands.at(0), &w = op.operands.at(1);
  auto batch = op.attributes.lists("batching"), contract = op.attributes.lists("contracting");
  if (op.op == "dot") contract = {{static_cast<std::int64_t>(x.shape.size()) - 1}, {0}};
  Names left(x.shape.size()), right(w.shape.size()), written, reduced;
  auto tie = [&](const std::vector<std::vector<std::int64_t>>& pairs, char letter, Names& list) {
    for (std::size_t k = 0; k < pairs.at(0).size(); ++k) {
      list.push_back(fmt::format("{}{}", letter, k));
      left.at(static_cast<std::size_t>(pairs.at(0).at(k))) = right.at(static_cast<std::size_t>(pairs.at(1).at(k))) =
          list.back();
    }
  };
  tie(batch, 'b', written);
  tie(contract, 'k', reduced);
  char letter = 'i';
  for (Names* side : {&left, &right}) {
    std::size_t k = 0;
    for (std::string& name : *side)
      if (name.empty()) written.push_back(name = fmt::format("{}{}", letter, k++));
    letter = 'j';
  }
  std::string product = cell(x.name, left) + " * " + cell(w.name, right);
  if (!reduced.empty()) product = fmt::format("sum[{}] {}", fmt::join(reduced, ", "), product);
  lines.body.push_back(fmt::format("{} = {}", cell(op.results.at(0).name, written), product));
}

void write_batch_norm(const CaseOp& op, TapLines& lines) {
  const TensorValue& x = op.operands.at(0);
  Names names = index_names(x.shape.size());
  Names feature{names.at(static_cast<std::size_t>(op.attributes.integer("feature_index", 1)))};
  auto at = [&](std::size_t k) { return cell(op.operands.at(k).name, feature); };  // scale, offset, mean, variance
  lines.body.push_back(fmt::format("{} = ({} - {}) / sqrt({} + 0.001) * {} + {}", cell(op.results.at(0).name, names),
                                   cell(x.name, names), at(3), at(4), at(1), at(2)));
}

struct Writer {
  std::string_view op;
  void (*write)(const CaseOp&, TapLines&);
};
constexpr Writer writers[] = {
    {"batch_norm_inference", write_batch_norm},
    {"broadcast_in_dim", write_broadcast},
    {"concatenate", write_concatenate},
    {"constant", write_constant},
    {"convolution", write_convolution},
    {"custom_call", write_by_rule},
    {"dot", write_dot},
    {"dot_general", write_dot},
    {"pad", write_pad},
    {"reduce", write_reduce},
    {"reshape", write_reshape},
    {"reverse", write_reverse},
    {"slice", write_slice},
    {"transpose", write_transpose},
};

}  // namespace

std::string cell(const std::string& name, const std::vector<std::string>& indices) {
  return fmt::format("{}[{}]", name, fmt::join(indices, ", "));
}

std::vector<std::string> index_names(std::size_t count, const std::string& letter) {
  std::vector<std::string> names;
  for (std::size_t a = 0; a < count; ++a) names.push_back(letter + std::to_string(a));
  return names;
}

std::string copy_text(const TensorValue& from, const std::string& to) {
  std::vector<std::string> names = index_names(from.shape.size());
  return cell(to, names) + " = " + cell(from.name, names);
}

void write_op(const CaseOp& op, TapLines& lines) {
  if (op.attributes.has("rule")) {
    if (rule_fits(op)) return write_by_rule(op, lines);
  }
  for (const Elementwise& each : elementwise)
    if (each.op == op.op) return write_elementwise(op, each.cell, lines);
  for (const Writer& writer : writers)
    if (writer.op == op.op) return writer.write(op, lines);
  throw Untranslatable{"the operation " + op.op + " is not in the vocabulary"};
}

}  // namespace tap::conformance
