// What the kinds of statements (kinds_*.cpp) are made with: the tensors known so far, fresh names, lines of text.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>
#include <span>

#include "tests/random/tap_generator.h"

namespace tap::random {

struct Known {
  std::string name;
  std::string type;  // any but bool
  Shape shape;
  // Floats are integers, and the finite ones no greater than this: so sums and products are exact in any order.
  double bound = 0;

  bool is_float() const { return tap::is_float(*element_type_named(type)); }
  bool is_int() const { return !is_float(); }
  // Of so many factors, added up a few hundred times.
  bool exact_products(int factors) const { return is_int() || type == "f64" || factors < 3; }
};

// Of one equation, so that a program takes milliseconds to evaluate.
constexpr std::int64_t most_points = 4000, most_cells = 300;

using Names = std::vector<std::string>;

class Generator {
 public:
  explicit Generator(Choices& choices) : choices_(choices) {}
  TapProgram run();

  std::int64_t choose(std::int64_t n) { return choices_(n); }
  // Some tensor, mostly the newest: chains are what splits and fusion are about. The kinds take a copy of it: a new one
  // moves the others.
  Known pick();
  // The newest that fits.
  std::optional<Known> pick_if(const std::function<bool(const Known&)>& fits);
  std::string fresh() { return fmt::format("t{}", ++names_); }
  void line(const std::string& text) { body_ += "    " + text + "\n"; }
  // A new tensor. Floats that may be greater than `bound` allows for are brought back between -8 and 8.
  void define(const std::string& name, const std::string& type, Shape shape, double bound = 1e9);
  // A further input of the program, of small numbers.
  Known input(const std::string& type, const Shape& shape);
  void result(const std::string& name, const std::string& type, const Shape& shape);  // that no statement reads
  void rounded_result(const std::string& name, const std::string& type, const Shape& shape);
  const char* number_type();
  bool special() const { return special_; }  // inputs hold NaN, infinities and -0
  void declare(const std::string& text);     // an operator or a monoid, once
  void uses(const std::string& feature) { features_.insert(feature); }
  // A cell expression of one tensor's type around a term of it.
  std::string around(const Known& x, const std::string& term, const Names& index);

 private:
  void add_input();
  void statement();
  TapProgram finish();

  Choices& choices_;
  std::vector<Known> known_;
  Names inputs_, results_, rounded_, declarations_;
  std::string body_;
  int names_ = 0;
  std::vector<bool> constant_;
  bool special_ = false;
  std::set<std::string> features_, read_;
};

// i0, i1, …
Names indices(std::size_t rank);
std::string joined(const Names& names);
std::string at(const Known& x, const Names& index);  // x[i0, i1]
std::string literal(const Known& x, std::int64_t n);
// A cell as another type; where that is a float, a small number.
std::string as_type(const Known& x, const std::string& type, const Names& index);
double grown(const Known& x);                                  // what around() makes of its bound
std::string shift(const std::string& index, std::int64_t by);  // i0 + 2

// A kind of statement; it may find nothing that fits, and then says nothing.
struct StatementKind {
  const char* feature;
  void (*make)(Generator& g);
};
std::span<const StatementKind> kinds_of_maps();
std::span<const StatementKind> kinds_of_reductions();
std::span<const StatementKind> kinds_of_calls();
std::span<const StatementKind> kinds_of_writers();
std::span<const StatementKind> kinds_of_operators();

}  // namespace tap::random
