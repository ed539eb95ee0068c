// Cells as terms of a hash-consed arena, so that equal terms have one number, with congruence closure: when two terms
// are declared equal, all terms that contain them become equal, too.
//
// Four kinds of terms are normalised on construction: affine functions of the index (i64 cells wrap, so they are
// linear forms modulo 2^64), casts to the type that a term already has, commutative operands, and reads, which are
// identified by their value, position, coordinates and fill instead of their number.
#pragma once

#include <map>
#include <vector>

#include "ir/operator.h"

namespace tap::check {

using Term = std::uint32_t;

class Terms {
 public:
  explicit Terms(std::size_t dims) : dims_(dims) {}

  enum class Kind : std::uint8_t { constant, affine, read, argument, apply };
  struct Node {
    Kind kind = Kind::apply;
    ir::CellOp op = ir::CellOp::constant;
    ElementType type = ElementType::i64;
    std::vector<std::int64_t> data = {};  // a constant's bits, a linear form, a read's position
    std::vector<Term> args = {};
    auto operator<=>(const Node&) const = default;
  };

  std::size_t dims() const { return dims_; }
  Term add(Node node);
  Term constant(const ir::Scalar& value);
  Term affine(const ir::AffineExpr& e);
  Term apply(ir::CellOp op, ElementType type, std::vector<Term> args);
  const Node& operator[](Term t) const { return nodes_[t]; }
  // The linear form over the dims, if the term is one.
  const std::vector<std::int64_t>* linear_form(Term t) const;
  // The constant, if it is one.
  std::optional<ir::Scalar> as_constant(Term t) const;
  // Whether the value is certainly a value of the term's type, so that it need not be rounded.
  bool is_rounded(Term t) const;

  void merge(Term a, Term b) { unions_.emplace_back(a, b); }
  void close();  // call after the last merge
  bool equal(Term a, Term b) const { return find(a) == find(b); }

 private:
  Term find(Term t) const;
  std::optional<Term> as_linear(ir::CellOp op, const std::vector<Term>& args);

  std::size_t dims_;
  std::vector<Node> nodes_;
  std::map<Node, Term> known_;
  mutable std::vector<Term> parent_;
  std::vector<std::pair<Term, Term>> unions_;
};

}  // namespace tap::check
