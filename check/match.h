// Two operators side by side, one of `after` and the one of `before` that it stands for, both read over the index dims of
// the first. Each question refuses with the obligation at hand, in numbers.
#pragma once

#include <fmt/format.h>

#include "check/affine.h"
#include "check/places.h"
#include "check/terms.h"
#include "check/verdict.h"

namespace tap::check {

// The cells of an operator as terms; dims[d] is what its dim d is over the terms' dims.
class Cells {
 public:
  Cells(Terms& terms, const Side& side, std::vector<AffineExpr> dims)
      : terms_(terms), side_(side), dims_(std::move(dims)), reads_(side.op->reads.size()) {}

  Term term(ir::CellId cell);
  std::vector<Term> all(const ir::CellExprs& exprs);  // of other cells with the same leaves
  Term read(std::uint32_t number);
  void replace(std::uint32_t read, Term by) { reads_[read] = by; }
  AffineExpr placed(const AffineExpr& e) const { return substituted(e, dims_, terms_.dims()); }
  std::vector<AffineExpr> rows(const ir::Access& access) const;

 private:
  Term made(const ir::CellNode& node, std::vector<Term> args);

  Terms& terms_;
  const Side& side_;
  std::vector<AffineExpr> dims_;
  std::vector<std::optional<Term>> reads_;
  std::vector<bool> open_ = {};
  std::size_t done_ = 0;                       // all cells before it are known
  std::vector<std::optional<Term>> own_ = {};  // of the operator's cells
};

bool same_monoid(const ir::Program& a, ir::MonoidId x, const ir::Program& b, ir::MonoidId y);

// place[d]: which dim of `after` the dim d of `before` is; if it is none, value[d] is what stands in its place.
struct Dims {
  std::vector<std::optional<std::uint32_t>> place;
  std::vector<AffineExpr> value;
};
Dims same_dims(const Side& after, const Side& before, Obligation obligation);  // each the one of the same number

class Match {
 public:
  Match(const Places& places, const Side& after, const Side& before, Dims dims, Obligation obligation);

  void dims();  // each is what it was
  void constraints();
  void blockings(std::size_t more = 0);  // and so many more at the end of after's
  void writes();
  void write_place(std::size_t number, bool behind_block = false, std::uint32_t block = 0);
  void body();  // maps and reductions: the same terms
  void monoid();
  void everything();
  void axioms(const std::vector<ir::AxiomUse>& uses, const ir::CellExprs& terms);

  Cells& after_cells() { return a_; }
  Cells& before_cells() { return b_; }
  Terms& terms() { return terms_; }
  template <class... Args>
  void expect(bool holds, fmt::format_string<Args...> format, Args&&... args) const {
    if (!holds) throw Refusal{obligation_, fmt::format(format, std::forward<Args>(args)...)};
  }

 private:
  void accesses(const std::vector<ir::Access>& a, const std::vector<ir::Access>& b, const char* what);
  void types();

  const Places& places_;
  const Side &after_, &before_;
  Dims dims_;
  Obligation obligation_;
  Terms terms_;
  Cells a_, b_;
};

}  // namespace tap::check
