#include "tests/random/tap_generator.h"

#include "tests/random/generator.h"

namespace tap::random {

namespace {

const std::vector<StatementKind>& all_kinds() {
  static const std::vector<StatementKind> kinds = [] {
    std::vector<StatementKind> all;
    for (auto table : {kinds_of_maps(), kinds_of_reductions(), kinds_of_calls()})
      all.insert(all.end(), table.begin(), table.end());
    return all;
  }();
  return kinds;
}

}  // namespace

std::string joined(const Names& names) { return fmt::format("{}", fmt::join(names, ", ")); }

Names indices(std::size_t rank) {
  Names names;
  for (std::size_t a = 0; a < rank; ++a) names.push_back("i" + std::to_string(a));
  return names;
}

std::string at(const Known& x, const Names& index) { return fmt::format("{}[{}]", x.name, joined(index)); }

std::string literal(const Known& x, std::int64_t n) {
  return x.type == "f64" ? fmt::format("{}.0", n) : fmt::format("{}", n);
}

std::string shift(const std::string& index, std::int64_t by) {
  return by == 0 ? index : fmt::format("{} {} {}", index, by < 0 ? "-" : "+", std::abs(by));
}

TapProgram Generator::run() {
  for (std::int64_t n = 1 + choose(2); n > 0; --n) add_input();
  for (std::int64_t n = 11 + choose(6); n > 0; --n) statement();
  return finish();
}

void Generator::statement() {
  const StatementKind& kind =
      all_kinds()[static_cast<std::size_t>(choose(static_cast<std::int64_t>(all_kinds().size())))];
  std::size_t before = known_.size();
  kind.make(*this);
  if (known_.size() != before) uses(kind.feature);
  else all_kinds()[0].make(*this);  // nothing fits that kind of statement: the simplest
}

void Generator::add_input() {
  const char* types[] = {"i64", "i64", "i32", "f64"};
  Known k{fmt::format("in{}", inputs_.size()), types[choose(4)], {}};
  for (std::int64_t rank = 1 + choose(3); rank > 0; --rank) k.shape.push_back(choose(16) == 0 ? 0 : 1 + choose(6));
  bool is_const = choose(5) == 4;
  if (is_const) uses("const");
  if (std::count(k.shape.begin(), k.shape.end(), 0) > 0) uses("zero size");
  inputs_.push_back(fmt::format("{}{}: {}{}", is_const ? "const " : "", k.name, k.type, to_string(k.shape)));
  known_.push_back(k);
}

Known Generator::some() {
  std::int64_t back = choose(3) ? 0 : choose(static_cast<std::int64_t>(known_.size()));
  const Known& found = known_[known_.size() - 1 - static_cast<std::size_t>(back)];
  read_.insert(found.name);
  return found;
}

std::optional<Known> Generator::some_where(const std::function<bool(const Known&)>& fits) {
  for (std::size_t k = known_.size(); k-- > 0;)
    if (fits(known_[k])) {
      read_.insert(known_[k].name);
      return known_[k];
    }
  return std::nullopt;
}

void Generator::define(const std::string& name, const std::string& type, Shape shape) {
  known_.push_back({name, type, std::move(shape)});
}

void Generator::declare(const std::string& text) {
  if (std::find(declarations_.begin(), declarations_.end(), text) == declarations_.end()) declarations_.push_back(text);
}

std::string Generator::around(const Known& x, const std::string& term, const Names& index) {
  switch (choose(9)) {
    case 0: return fmt::format("{} + {}", term, literal(x, choose(5)));
    case 1: return fmt::format("max({}, {})", term, literal(x, choose(3)));
    case 2: return fmt::format("-{}", term);
    case 3: return fmt::format("abs({}) - {}", term, literal(x, 1));
    case 4:
      if (index.empty()) return term;
      uses("if");
      return fmt::format("if {} < {} then {} else {}", index[0], choose(5), term, literal(x, choose(4)));
    case 5: uses("let"); return fmt::format("let e = {} in e + e", term);
    case 6:
      if (index.empty()) return term;
      uses("index value");
      return fmt::format("{} + {}({})", term, x.type, index[0]);
    case 7: return x.type == "f64" ? term : fmt::format("({}) % 7", term);
    default: return term;
  }
}

TapProgram Generator::finish() {
  const Known& last = known_.back();
  Names outputs = {fmt::format("y: {}{}", last.type, to_string(last.shape))};
  // What nobody read is a result too: else it would be dropped, and nothing of it tested.
  for (std::size_t k = inputs_.size(); k + 1 < known_.size(); ++k)
    if (!read_.count(known_[k].name))
      outputs.push_back(fmt::format("{}: {}{}", known_[k].name, known_[k].type, to_string(known_[k].shape)));
  Names i = indices(last.shape.size());
  line(fmt::format("y[{}] = {}", joined(i), at(last, i)));
  std::string text = "use std\n";
  for (const std::string& d : declarations_) text += d;
  text += fmt::format("program p({}) -> ({}) {{\n{}}}\n", joined(inputs_), joined(outputs), body_);
  return {text, features_};
}

TapProgram generate(Choices& choose) { return Generator(choose).run(); }

const std::vector<std::string>& all_features() {
  static const std::vector<std::string> features = [] {
    std::set<std::string> set{"if", "let", "index value", "const", "zero size"};
    for (const StatementKind& kind : all_kinds()) set.insert(kind.feature);
    return std::vector<std::string>(set.begin(), set.end());
  }();
  return features;
}

Tensor input_values(ElementType type, const Shape& shape, Choices& choose) {
  Tensor t(type, shape);
  std::int64_t start = choose(7);
  for (std::int64_t k = 0; k < t.size(); ++k) {
    std::int64_t value = (start + 5 * k) % 9 - 3;
    if (is_float(type)) t.store_f64(k, static_cast<double>(value));
    else t.store_i64(k, value);
  }
  return t;
}

}  // namespace tap::random
