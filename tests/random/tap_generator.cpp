#include "tests/random/tap_generator.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>

#include "tests/random/generator.h"
#include "tests/random/known_failures.h"

namespace tap::random {

namespace {

const std::vector<StatementKind>& all_kinds() {
  static const std::vector<StatementKind> kinds = [] {
    std::vector<StatementKind> all;
    for (auto table :
         {kinds_of_maps(), kinds_of_reductions(), kinds_of_calls(), kinds_of_writers(), kinds_of_operators()})
      std::copy_if(table.begin(), table.end(), std::back_inserter(all),
                   [](const StatementKind& kind) { return !is_known_failure(kind.feature, KnownFailure::everywhere); });
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
  return x.is_float() ? fmt::format("{}.0", n) : fmt::format("{}", n);
}

std::string as_type(const Known& x, const std::string& type, const Names& index) {
  if (x.type == type) return at(x, index);
  const bool wide = x.is_int() && is_float(*element_type_named(type));
  return fmt::format(fmt::runtime(wide ? "{}({} % 16)" : "{}({})"), type, at(x, index));
}

double grown(const Known& x) { return 2 * x.bound + 40; }

std::string shift(const std::string& index, std::int64_t by) {
  return by == 0 ? index : fmt::format("{} {} {}", index, by < 0 ? "-" : "+", std::abs(by));
}

TapProgram Generator::run() {
  special_ = choose(3) == 2;
  if (special_) uses("special values");
  for (std::int64_t n = 1 + choose(2); n > 0; --n) add_input();
  for (std::int64_t n = 4 + choose(6); n > 0; --n) statement();
  return finish();
}

void Generator::statement() {
  const StatementKind& kind =
      all_kinds()[static_cast<std::size_t>(choose(static_cast<std::int64_t>(all_kinds().size())))];
  const std::size_t before = body_.size();
  kind.make(*this);
  if (body_.size() != before) uses(kind.feature);
  else all_kinds()[0].make(*this);  // nothing fits that kind of statement: the simplest
}

const char* Generator::number_type() {
  static const char* const types[] = {"i64", "f32", "f64", "i32", "bf16", "i8", "f16", "u8", "i16"};
  return types[choose(9)];
}

void Generator::add_input() {
  const std::string type = number_type();
  Shape shape;
  std::int64_t cells = 1;
  for (std::int64_t rank = 1 + choose(3); rank > 0; --rank) {
    std::int64_t size = choose(16) == 0 ? 0 : 1 + choose(6);
    if (choose(5) == 4 && cells * 33 <= most_cells) {  // a vector and what is left of it
      static const std::int64_t edges[] = {7, 8, 9, 15, 16, 17, 31, 32, 33};
      size = edges[choose(9)];
      uses("vectors with tails");
    }
    if (cells * size > most_cells) size = 2;
    cells *= std::max<std::int64_t>(size, 1);
    shape.push_back(size);
  }
  if (std::count(shape.begin(), shape.end(), 0) > 0) uses("zero size");
  known_.push_back(input(type, shape));
}

Known Generator::input(const std::string& type, const Shape& shape) {
  Known k{fmt::format("in{}", inputs_.size()), type, shape, 8};
  const bool is_const = choose(5) == 4;
  if (is_const) uses("const");
  constant_.push_back(is_const);
  uses("input of " + type);
  inputs_.push_back(fmt::format("{}{}: {}{}", is_const ? "const " : "", k.name, type, to_string(shape)));
  read_.insert(k.name);
  return k;
}

void Generator::result(const std::string& name, const std::string& type, const Shape& shape) {
  results_.push_back(fmt::format("{}: {}{}", name, type, to_string(shape)));
}

Known Generator::pick() {
  std::int64_t back = choose(3) ? 0 : choose(static_cast<std::int64_t>(known_.size()));
  const Known& found = known_[known_.size() - 1 - static_cast<std::size_t>(back)];
  read_.insert(found.name);
  return found;
}

std::optional<Known> Generator::pick_if(const std::function<bool(const Known&)>& fits) {
  for (std::size_t k = known_.size(); k-- > 0;)
    if (fits(known_[k])) {
      read_.insert(known_[k].name);
      return known_[k];
    }
  return std::nullopt;
}

void Generator::rounded_result(const std::string& name, const std::string& type, const Shape& shape) {
  rounded_.push_back(fmt::format("{}: {}{}", name, type, to_string(shape)));
}

void Generator::define(const std::string& name, const std::string& type, Shape shape, double bound) {
  Known k{name, type, std::move(shape), bound};
  uses("cells of " + type);
  if (k.is_float() && bound > 64) {
    Names i = indices(k.shape.size());
    const std::string tame = fresh();
    line(fmt::format("{}[{}] = max(min({}, 8), -8)", tame, joined(i), at(k, i)));
    read_.insert(name);
    k.name = tame, k.bound = 8;
  }
  known_.push_back(std::move(k));
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
    case 7: return fmt::format("({}) % {}", term, literal(x, 7));
    default: return term;
  }
}

TapProgram Generator::finish() {
  const Known& last = known_.back();
  Names outputs = {fmt::format("y: {}{}", last.type, to_string(last.shape))};
  // What nobody read is a result too: else it would be dropped, and nothing of it tested.
  for (std::size_t k = 0; k + 1 < known_.size(); ++k)
    if (!read_.count(known_[k].name))
      outputs.push_back(fmt::format("{}: {}{}", known_[k].name, known_[k].type, to_string(known_[k].shape)));
  outputs.insert(outputs.end(), results_.begin(), results_.end());
  outputs.insert(outputs.end(), rounded_.begin(), rounded_.end());
  Names i = indices(last.shape.size());
  line(fmt::format("y[{}] = {}", joined(i), at(last, i)));
  std::string text = "use std\n";
  for (const std::string& d : declarations_) text += d;
  text += fmt::format("program p({}) -> ({}) {{\n{}}}\n", joined(inputs_), joined(outputs), body_);
  return {text, features_, constant_, special_, rounded_.size()};
}

TapProgram generate(Choices& choose) { return Generator(choose).run(); }

const std::vector<std::string>& all_features() {
  static const std::vector<std::string> features = [] {
    std::set<std::string> set{"if", "let", "index value", "const", "zero size", "special values", "vectors with tails"};
    for (const StatementKind& kind : all_kinds()) set.insert(kind.feature);
    for (const char* type : {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8"})
      for (const char* what : {"input of ", "cells of "}) set.insert(std::string(what) + type);
    return std::vector<std::string>(set.begin(), set.end());
  }();
  return features;
}

namespace {

using Numbers = std::minstd_rand;

double random_float(Values values, std::int64_t small, Numbers& numbers) {
  if (values == Values::small || numbers() % 4)
    return static_cast<double>(small) + (values == Values::any ? static_cast<double>(numbers() % 200) / 177 : 0);
  const double infinity = std::numeric_limits<double>::infinity();
  const double special[] = {std::nan(""), infinity, -infinity, -0.0, 0.0, 1.0};
  return special[numbers() % 6];
}

std::int64_t random_integer(ElementType type, Values values, std::int64_t small, Numbers& numbers) {
  if (values == Values::small || numbers() % 3) return small;
  const std::int64_t least = least_integer(type), greatest = greatest_integer(type);
  const std::int64_t special[] = {least, greatest, least + 1, -1, 0, greatest / 3 * 2};
  return special[numbers() % 6];
}

}  // namespace

Tensor input_values(ElementType type, const Shape& shape, Values values, Choices& choose) {
  Tensor t(type, shape);
  const std::int64_t start = choose(7);
  Numbers numbers(static_cast<std::minstd_rand::result_type>(choose(200) + 1));
  for (std::int64_t k = 0; k < t.size(); ++k) {
    std::int64_t value = (start + 5 * k) % 9 - 3;
    if (is_float(type)) t.store_f64(k, random_float(values, value, numbers));
    else if (is_bool(type)) t.store_i64(k, static_cast<std::int64_t>(numbers() % 2));
    else t.store_i64(k, random_integer(type, values, value, numbers));
  }
  return t;
}

}  // namespace tap::random
