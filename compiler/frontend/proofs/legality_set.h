// Sets of integer points under affine constraints: a value type over isl, with only what the legality proofs need.
//
//   IntegerSets sets;
//   IntegerSet triangle = sets.of({box 0..4 x 0..4, {i - j >= 0}});
//   triangle.lexmin()   // {0, 0}
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "ir/affine.h"

struct isl_ctx;
struct isl_set;

namespace tap {

// Constraints over `dims` variables, built up before a set is made of them.
struct System {
  std::size_t dims = 0;
  std::vector<ir::Constraint> constraints;

  void at_least(ir::AffineExpr expr, std::int64_t bound);  // expr >= bound
  void at_most(ir::AffineExpr expr, std::int64_t bound);   // expr <= bound
  void equal(ir::AffineExpr expr, std::int64_t value);
  void inside(std::size_t dim, ir::Range range);
};

// Thrown by every operation once the budget is exhausted (see IntegerSets::set_budget).
struct OutOfBudget {};

class IntegerSet {
 public:
  IntegerSet(const IntegerSet& other);
  IntegerSet(IntegerSet&& other) noexcept;
  IntegerSet& operator=(IntegerSet other) noexcept;
  ~IntegerSet();

  bool is_empty() const;
  IntegerSet unite(const IntegerSet& other) const;
  IntegerSet intersect(const IntegerSet& other) const;
  IntegerSet subtract(const IntegerSet& other) const;
  // Eliminates the variables first … first + count - 1.
  IntegerSet project_out(std::size_t first, std::size_t count) const;
  // The lexicographically smallest point; empty if the set is. Pre: bounded from below.
  std::optional<ir::Point> lexmin() const;

 private:
  friend class IntegerSets;
  IntegerSet(isl_ctx* ctx, isl_set* set);  // takes `set`
  isl_ctx* ctx_;
  isl_set* set_;
};

// Creates sets, in one isl context. Must outlive its sets.
class IntegerSets {
 public:
  IntegerSets();
  ~IntegerSets();
  IntegerSets(const IntegerSets&) = delete;
  IntegerSets& operator=(const IntegerSets&) = delete;

  // Allows this many operations (about pivots of a simplex tableau) before OutOfBudget; 0: unlimited.
  void set_budget(unsigned long operations) const;

  IntegerSet of(const System& system) const;
  IntegerSet of(const ir::Domain& domain) const;
  IntegerSet none(std::size_t dims) const;

 private:
  isl_ctx* ctx_;
};

}  // namespace tap
