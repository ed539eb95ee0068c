// Compares an operator of `after` with its counterpart of `before`. A rule describes a rewrite as a form: the
// operator of `before`, over the index dims of the other, with the changes of the rewrite applied. One comparison
// then refuses every other difference, with numbers.
#pragma once

#include "check/affine.h"
#include "check/terms.h"
#include "check/value_numbering.h"
#include "check/verdict.h"

namespace tap::check {

// Each dim of an operator, as a function of other dims. A removed dim stands for its first value; its constraints and
// blockings are removed, too.
using Dims = std::vector<std::optional<AffineExpr>>;
// The dims that are not `gone` correspond to those of `over` in order; `between` is a dim of `over` to skip.
Dims in_order(const ir::Operator& op, std::size_t over, Obligation obligation,
              const std::set<std::uint32_t>& removed = {}, std::optional<std::uint32_t> between = {});
std::set<std::uint32_t> dims_of_role(const ir::Operator& op, ir::DimRole role);

// The cells of an operator as terms over other dims.
class Cells {
 public:
  Cells(Terms& terms, const Side& side, const Dims& dims);

  Term term(ir::CellId cell);
  std::vector<Term> all(const ir::CellExprs& exprs);  // of additional cells with the same leaves
  Term read(std::uint32_t number);
  void replace(std::uint32_t read, Term by);  // in all cells, including those already returned
  AffineExpr placed(const AffineExpr& e) const { return substituted(e, dims_, terms_.dims()); }
  std::vector<AffineExpr> rows(const ir::Access& access) const;

 private:
  Term made(const ir::CellNode& node, std::vector<Term> args);

  Terms& terms_;
  const Side& side_;
  std::vector<AffineExpr> dims_;
  std::vector<std::optional<Term>> reads_ = std::vector<std::optional<Term>>(side_.op->reads.size());
  std::vector<std::optional<Term>> replaced_ = reads_;
  std::vector<std::optional<Term>> own_ = std::vector<std::optional<Term>>(side_.op->exprs.size());  // its cells
  std::vector<bool> open_ = std::vector<bool>(own_.size());
};

// A read of one cell of a value, without a fill.
Term read_of(Terms& terms, Class value, ElementType type, const std::vector<AffineExpr>& rows);
// combine(earlier, later), by component.
std::vector<Term> combined(Terms& terms, const ir::Monoid& monoid, const std::vector<Term>& earlier,
                           const std::vector<Term>& later);

// A monoid without names: its components, identity and combination; with `known`, also the status of its laws, and its
// fold.
Term monoid_term(Terms& terms, const ir::Program& program, ir::MonoidId id, bool known = true);
// A reduction by a monoid, over any points; and the cells of a monoid's fold, for these operands or for none.
Term reduced_by(Terms& terms, const ir::Program& program, ir::MonoidId monoid, Term operand);
std::vector<Term> folded(Terms& terms, const ir::Program& program, const ir::Monoid& monoid,
                         const std::vector<Term>& operands, bool empty = false);

// An operator without names and the order of its cells. Terms are those of a Match.
struct Form {
  struct Write {
    std::size_t result = 0;
    std::vector<AffineExpr> rows;
    Shape shape;
    std::set<std::uint32_t> invariant;
    bool operator==(const Write&) const = default;
  };
  std::vector<ir::IndexDim> dims;
  std::vector<ir::Constraint> constraints;
  std::vector<ir::Blocking> blockings;
  std::vector<std::pair<ir::TensorType, Class>> results;
  std::vector<Write> writes;
  std::size_t body = 0;           // number of the kind of body
  std::vector<Term> values = {};  // of a map, or the reduced operands
  std::optional<Term> monoid = {};
  std::string kernel = {};
  // For kinds other than maps and reductions, which are not determined by their cells.
  std::vector<std::pair<ir::TensorType, Class>> operands = {};
  std::vector<std::pair<std::uint32_t, Term>> reads = {};
};

class Match {
 public:
  Match(const Side& after, const Side& before, const Dims& dims, Obligation obligation)
      : after_(after), before_(before), dims_(dims), obligation_(obligation) {}

  // The form of `before`; `is` requires the form of `after` to equal `wanted`.
  Form form() { return form_of(before_, dims_, b_); }
  void is(const Form& expected);
  // Adds a dim to the form; `cut` adds a blocking, whose block dim is new.
  void insert(Form& form, std::size_t at, const ir::IndexDim& dim) const;
  void split(Form& form, const ir::Blocking& by, ir::DimRole role) const;
  // Declares terms of before's cells equal.
  void axioms(const std::vector<ir::AxiomUse>& uses, const ir::CellExprs& terms);

  Cells& before_cells() { return b_; }
  Terms& terms() { return terms_; }
  template <class... Args>
  void expect(bool holds, fmt::format_string<Args...> format, Args&&... args) const {
    if (!holds) throw Refusal{obligation_, fmt::format(format, std::forward<Args>(args)...)};
  }

 private:
  template <class List, class Equal = std::equal_to<>>
  void alike(const char* what, const List& is, const List& expected, Equal equal = {}) const {
    expect(is.size() == expected.size(), "{} {}s, expected {}", is.size(), what, expected.size());
    for (std::size_t k = 0; k < is.size(); ++k) expect(equal(is[k], expected[k]), "{} {} differs", what, k);
  }
  Form form_of(const Side& side, const Dims& dims, Cells& cells);

  const Side &after_, &before_;
  const Dims dims_;
  const Obligation obligation_;
  const Dims own_dims_ = in_order(*after_.op, after_.op->dims.size(), obligation_);
  Terms terms_{after_.op->dims.size()};
  Cells a_{terms_, after_, own_dims_}, b_{terms_, before_, dims_};
};

}  // namespace tap::check
