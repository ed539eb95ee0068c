// Reads of random small operators against enumeration of every point: verdict and witness, with closed forms and by isl
// alone. Values of conditions that are not affine are unknown: both branches count.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "compiler/frontend/proofs/legality.h"
#include "ir/graph.h"
#include "tests/frontend/random_reader.h"

namespace tap {
namespace {

using namespace testing;
// All that may be evaluated at one point. May a condition be true, may it be false?
class PointWalk {
 public:
  PointWalk(const ir::Operator& op, const Point& p) : op_(op), p_(p), read_(op.reads.size(), false) {
    for (CellId root : op.map()->values) walk(root);
  }
  bool reads(std::size_t access) const { return read_[access]; }
  bool is_outside(const ir::Access& access) const {
    const Shape& shape = op_.operands[access.tensor].shape;
    return !ir::Box::of_shape(shape).contains(access.projection.start(p_));
  }

 private:
  struct May {
    bool be_true, be_false;
  };
  std::int64_t integer(CellId cell) const {
    const ir::CellNode& n = op_.exprs[cell];
    if (n.op == CellOp::constant) return n.value.i;
    if (n.op == CellOp::index) return p_[n.attribute];
    std::int64_t a = integer(n.args[0]), b = integer(n.args[1]);
    return n.op == CellOp::add ? a + b : a * b;
  }
  May may(CellId cell) const {
    const ir::CellNode& n = op_.exprs[cell];
    if (n.op == CellOp::logical_not) return {may(n.args[0]).be_false, may(n.args[0]).be_true};
    if (n.op == CellOp::select) {
      May c = may(n.args[0]), t = may(n.args[1]), f = may(n.args[2]);
      return {(c.be_true && t.be_true) || (c.be_false && f.be_true),
              (c.be_true && t.be_false) || (c.be_false && f.be_false)};
    }
    if (n.op == CellOp::logical_and || n.op == CellOp::logical_or) {
      May a = may(n.args[0]), b = may(n.args[1]);
      if (n.op == CellOp::logical_and) return {a.be_true && b.be_true, a.be_false || b.be_false};
      return {a.be_true || b.be_true, a.be_false && b.be_false};
    }
    if (op_.exprs[n.args[0]].type != ElementType::i64) return {true, true};
    std::int64_t a = integer(n.args[0]), b = integer(n.args[1]);
    bool holds = n.op == CellOp::less ? a < b : n.op == CellOp::equal ? a == b : a != b;
    return {holds, !holds};
  }
  void walk(CellId cell) {
    const ir::CellNode& n = op_.exprs[cell];
    if (n.op == CellOp::read) {
      read_[n.attribute] = true;
      const ir::Access& access = op_.reads[n.attribute];
      if (access.fill && is_outside(access)) walk(*access.fill);
      return;
    }
    for (std::size_t k = 0; k < n.args.size(); ++k) {
      bool taken = true;
      if (k > 0 && n.op == CellOp::select) taken = k == 1 ? may(n.args[0]).be_true : may(n.args[0]).be_false;
      if (k > 0 && n.op == CellOp::logical_and) taken = may(n.args[0]).be_true;
      if (k > 0 && n.op == CellOp::logical_or) taken = may(n.args[0]).be_false;
      if (taken) walk(n.args[k]);
    }
  }
  const ir::Operator& op_;
  const Point& p_;
  std::vector<bool> read_;
};

std::optional<ReadOutside> enumerate_reads(const ir::Operator& op) {
  for (std::uint32_t read = 0; read < op.reads.size(); ++read) {
    if (op.reads[read].fill) continue;
    for (const Point& p : points_of(op.box())) {
      if (!op.domain().contains(p)) continue;
      PointWalk walk(op, p);
      if (walk.reads(read) && walk.is_outside(op.reads[read]))
        return ReadOutside{read, p, op.reads[read].projection.start(p)};
    }
  }
  return std::nullopt;
}

RC_GTEST_PROP(LegalityProperty, ReadsAgreeWithEnumeration, ()) {
  ir::Operator op = random_reader();
  std::optional<ReadOutside> expected = enumerate_reads(op);
  RC_TAG(expected ? "outside" : "inside");
  for (bool closed_forms : {true, false}) {
    std::optional<ReadOutside> found = Legality({closed_forms}).check_reads(op);
    RC_ASSERT(found.has_value() == expected.has_value());
    if (!found) continue;
    RC_ASSERT(found->read == expected->read);
    RC_ASSERT(found->point == expected->point);
    RC_ASSERT(found->cell == expected->cell);
  }
}

}  // namespace
}  // namespace tap
