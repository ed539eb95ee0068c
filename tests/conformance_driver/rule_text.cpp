#include "tests/conformance_driver/rule_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/conformance_driver/kinds.h"

namespace tap::conformance {
namespace {

// Reads a rule's text from left to right.
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : rest_(text) {}

  Rule read() {
    Rule rule;
    rule.operands = tensors();
    expect("->");
    rule.results = tensors();
    blanks();
    if (rest_.starts_with("{")) sizes(rule);
    for (blanks(); !rest_.empty() && rest_[0] != ','; blanks()) {
      std::string set = word();
      expect("={");
      while (!take("}")) {
        rule.sets[set].push_back(word());
        take(",");
        blanks();
      }
    }
    return rule;
  }

 private:
  void blanks() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) throw Untranslatable{fmt::format("a rule wants `{}` before `{}`", token, rest_)};
  }
  std::string word() {
    std::size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
    if (n == 0) throw Untranslatable{fmt::format("a rule wants a name before `{}`", rest_)};
    std::string name(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return name;
  }
  // A factor is a letter, or z_1 and so on behind the last one.
  std::string factor() {
    std::string name(1, rest_[0]);
    rest_.remove_prefix(1);
    if (!rest_.starts_with("_")) return name;
    for (name += '_', rest_.remove_prefix(1); !rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0]));
         rest_.remove_prefix(1))
      name += rest_[0];
    return name;
  }
  std::vector<RuleAxes> tensors() {
    std::vector<RuleAxes> list;
    expect("(");
    while (!take(")")) {
      RuleAxes axes;
      expect("[");
      while (!take("]")) {
        axes.emplace_back();
        const std::size_t left = rest_.size();
        while (!rest_.empty() && std::isalpha(static_cast<unsigned char>(rest_[0]))) axes.back().push_back(factor());
        take(",");
        blanks();
        if (rest_.size() == left && !rest_.starts_with("]")) expect("]");
      }
      list.push_back(std::move(axes));
      take(",");
    }
    return list;
  }
  void sizes(Rule& rule) {
    expect("{");
    while (!take("}")) {
      std::string name = word();
      expect("=");
      rule.sizes[name] = std::stoll(word());
      take(",");
      blanks();
    }
  }

  std::string_view rest_;
};

bool fits(const Rule& rule, const RuleAxes& axes, const Shape& shape) {
  if (axes.size() != shape.size()) return false;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    std::int64_t points = 1;
    for (const std::string& f : axes[a]) points *= rule.sizes.at(f);
    if (points != shape.at(a)) return false;
  }
  return true;
}

// 4*i + j
std::string index_of(const Rule& rule, const std::vector<std::string>& factors) {
  std::string text;
  std::int64_t step = 1;
  for (std::size_t k = factors.size(); k-- > 0; step *= rule.sizes.at(factors[k]))
    text = (step == 1 ? factors[k] : fmt::format("{}*{}", step, factors[k])) + (text.empty() ? "" : " + " + text);
  return text.empty() ? "0" : text;
}

std::string cell_of(const Rule& rule, const TensorValue& tensor, const RuleAxes& axes) {
  std::vector<std::string> indices;
  for (const auto& factors : axes) indices.push_back(index_of(rule, factors));
  return cell(tensor.name, indices);
}

std::string ranges_of(const Rule& rule, const std::vector<std::string>& factors) {
  std::string text;
  for (const std::string& f : factors)
    text += fmt::format("{}{} in 0..{}", text.empty() ? "" : ", ", f, rule.sizes.at(f));
  return text;
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::vector<std::string> factors_in(const std::vector<RuleAxes>& tensors) {
  std::vector<std::string> list;
  for (const RuleAxes& axes : tensors)
    for (const auto& factors : axes)
      for (const std::string& f : factors)
        if (!contains(list, f)) list.push_back(f);
  return list;
}

void write_equation(const CaseOp& op, const Rule& rule, TapLines& lines) {
  std::vector<std::string> written = factors_in(rule.results), summed;
  for (const std::string& f : factors_in(rule.operands))
    if (!contains(written, f)) summed.push_back(f);
  std::string sum;
  for (std::size_t k = 0; k < op.operands.size(); ++k)
    sum += (k == 0 ? "" : " + ") + cell_of(rule, op.operands.at(k), rule.operands.at(k));
  if (!summed.empty()) sum = fmt::format("sum[{}] {}", ranges_of(rule, summed), sum);
  std::string ranges = ranges_of(rule, written);
  lines.body.push_back(fmt::format("{} = {}{}{}", cell_of(rule, op.results.at(0), rule.results.at(0)), sum,
                                   ranges.empty() ? "" : " for ", ranges));
}

// Of a call of which nothing is known: it reads and writes whole tensors, in one application.
Rule opaque_rule(const CaseOp& op) {
  Rule rule;
  auto no_factors = [](const TensorValue& t) { return RuleAxes(t.shape.size()); };
  for (const TensorValue& t : op.operands) rule.operands.push_back(no_factors(t));
  for (const TensorValue& t : op.results) rule.results.push_back(no_factors(t));
  return rule;
}

void write_extern(const CaseOp& op, const Rule& rule, TapLines& lines) {
  std::string name = "outside_" + op.results.at(0).name, operands, results, body, call, bound, index;
  auto declare = [&](const std::vector<TensorValue>& tensors, const std::vector<RuleAxes>& axes, const char* letter,
                     const char* word, std::string& list, std::string& names) {
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      std::string comma = k == 0 ? "" : ", ", own = letter + std::to_string(k);
      list += fmt::format("{}{}: {}[{}]", comma, own, tensors[k].type, fmt::join(tensors[k].shape, ", "));
      names += comma + tensors[k].name;
      std::vector<std::string> at;
      Shape region;
      for (std::size_t a = 0; a < axes.at(k).size(); ++a) {
        at.push_back(index_of(rule, axes.at(k).at(a)));
        region.push_back(axes.at(k).at(a).empty() ? tensors[k].shape.at(a) : 1);
      }
      body += fmt::format("  {} {} at [{}] shape [{}]\n", word, own, fmt::join(at, ", "), fmt::join(region, ", "));
    }
  };
  declare(op.operands, rule.operands, "x", "read", operands, call);
  declare(op.results, rule.results, "y", "write", results, bound);
  std::vector<std::string> written = factors_in(rule.results);
  auto blocked = rule.sets.find("blocked_propagation");
  for (const std::string& f : written) {
    bool keep = blocked != rule.sets.end() && contains(blocked->second, f);
    index += fmt::format("{}{}{}: {}", index.empty() ? "" : ", ", keep ? "keep " : "", f, rule.sizes.at(f));
  }
  for (const std::string& f : factors_in(rule.operands))
    if (!contains(written, f))
      index += fmt::format("{}reduce {}: {} by sum", index.empty() ? "" : ", ", f, rule.sizes.at(f));
  if (index.empty()) index = "once: 1";
  lines.declarations.push_back(fmt::format("extern op {}({}) -> ({}) {{\n  index [{}]\n{}  kernel \"{}\"\n}}", name,
                                           operands, results, index, body, name));
  if (op.results.size() > 1) bound = "(" + bound + ")";
  lines.body.push_back(fmt::format("{} = {}({})", bound, name, call));
}

}  // namespace

Rule parse_rule(const std::string& text) { return RuleReader(text).read(); }

bool rule_fits(const CaseOp& op) {
  Rule rule = parse_rule(op.attributes.word("rule"));
  if (rule.operands.size() != op.operands.size() || rule.results.size() != op.results.size()) return false;
  for (std::size_t k = 0; k < op.operands.size(); ++k)
    if (!fits(rule, rule.operands.at(k), op.operands.at(k).shape)) return false;
  for (std::size_t k = 0; k < op.results.size(); ++k)
    if (!fits(rule, rule.results.at(k), op.results.at(k).shape)) return false;
  return true;
}

void write_by_rule(const CaseOp& op, TapLines& lines) {
  if (!op.attributes.has("rule")) return write_extern(op, opaque_rule(op), lines);
  Rule rule = parse_rule(op.attributes.word("rule"));
  if (op.results.size() == 1 && !rule.sets.contains("blocked_propagation")) write_equation(op, rule, lines);
  else write_extern(op, rule, lines);
}

}  // namespace tap::conformance
