// Prepares an operator for its canonical form, by colour refinement: the colour of a part is mixed with the colours
// of connected parts and the kinds of connection, until no more parts are distinguished.
#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "ir/hash.h"
#include "passes/rewrites/canonical_operator.h"
#include "passes/simplify/cell_facts.h"

namespace tap::passes::canonical {

using namespace ir;

namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return hash_combine(a, b); }
template <class... Rest>
std::uint64_t mix(std::uint64_t a, std::uint64_t b, Rest... rest) {
  return mix(mix(a, b), static_cast<std::uint64_t>(rest)...);
}
std::uint64_t number(std::int64_t n) { return static_cast<std::uint64_t>(n); }

std::uint64_t colour_of(const TensorType& type) {
  std::uint64_t h = static_cast<std::uint64_t>(type.element);
  for (std::int64_t n : type.shape) h = mix(h, number(n));
  return mix(h, type.shape.size());
}

// One round of refinement.
class ColourRound {
 public:
  ColourRound(const Prepared& p, Colours& c) : p_(p), op_(p.op), c_(c), next_(c) {}

  void run() {
    cells_upwards();
    cells_downwards();
    reads();
    writes();
    constraints();
    index_cells();
    c_ = std::move(next_);
  }

 private:
  std::uint64_t up(CellId id) const { return up_.at(id); }

  void cells_upwards() {
    for (CellId id : p_.cells) {
      const CellNode& node = op_.exprs[id];
      std::uint64_t h = mix(static_cast<std::uint64_t>(node.op), static_cast<std::uint64_t>(node.type));
      if (node.op == CellOp::read) h = mix(h, c_.reads[p_.read[node.attribute]]);
      else if (node.op == CellOp::index) h = mix(h, c_.dims[node.attribute]);
      else if (node.op == CellOp::constant) h = mix(h, hash_of(node));
      std::uint64_t sum = 0;
      for (CellId arg : node.args) {
        if (commutes(node.op)) sum += mix(1, up(arg));
        else h = mix(h, up(arg));
      }
      up_[id] = mix(h, sum);
    }
  }

  // Colours cells by their users.
  void cells_downwards() {
    if (auto* map = op_.map())
      for (std::size_t w = 0; w < map->values.size(); ++w) context_[map->values[w]] += mix(11, c_.writes[w]);
    if (auto* reduce = op_.reduce())
      for (std::size_t k = 0; k < reduce->operands.size(); ++k) context_[reduce->operands[k]] += mix(12, k);
    for (std::uint32_t r : p_.reads) {
      const Access& read = op_.reads[r];
      for (std::size_t axis = 0; axis < read.coordinates.size(); ++axis)
        if (read.coordinates[axis]) context_[*read.coordinates[axis]] += mix(13, c_.reads[r], axis);
      if (read.fill) context_[*read.fill] += mix(14, c_.reads[r]);
    }
    for (auto it = p_.cells.rbegin(); it != p_.cells.rend(); ++it) {
      const CellNode& node = op_.exprs[*it];
      for (std::size_t k = 0; k < node.args.size(); ++k)
        context_[node.args[k]] += mix(15, context_[*it], up(*it), commutes(node.op) ? 0 : k + 1);
    }
  }

  // The code of an access; `relative_to` gives its dims their surrounding colours.
  std::uint64_t access(const Access& access, std::uint64_t relative_to) {
    std::uint64_t h = access.projection.rank();
    for (std::size_t axis = 0; axis < access.projection.rank(); ++axis) {
      const AffineExpr& row = access.projection.start.rows[axis];
      std::uint64_t sum = 0;
      for (std::size_t d = 0; d < row.coefficients.size(); ++d) {
        if (row.coefficients[d] == 0) continue;
        sum += mix(number(row.coefficients[d]), c_.dims[d]);
        next_.dims[d] += mix(21, relative_to, axis, number(row.coefficients[d]));
      }
      h = mix(h, sum, number(row.offset), number(access.projection.shape[axis]));
    }
    std::uint64_t invariant = 0;
    for (std::uint32_t d : access.invariant_dims) {
      invariant += mix(2, c_.dims[d]);
      next_.dims[d] += mix(22, relative_to);
    }
    return mix(h, invariant);
  }

  void reads() {
    for (std::uint32_t r : p_.reads) {
      const Access& read = op_.reads[r];
      const std::uint32_t tensor = p_.tensor[read.tensor];
      std::uint64_t h = mix(access(read, c_.reads[r]), c_.tensors[tensor]);
      for (const auto& coordinate : read.coordinates) h = mix(h, coordinate ? up(*coordinate) : 3);
      h = mix(h, read.fill ? up(*read.fill) : 4);
      for (CellId id : p_.cells)
        if (op_.exprs[id].op == CellOp::read && p_.read[op_.exprs[id].attribute] == r) h += mix(5, context_[id]);
      next_.reads[r] = mix(c_.reads[r], h);
      next_.tensors[tensor] += mix(6, c_.reads[r]);
    }
    for (std::uint32_t t : p_.tensors) next_.tensors[t] = mix(c_.tensors[t], next_.tensors[t]);
  }

  void writes() {
    for (std::size_t w = 0; w < op_.writes.size(); ++w) {
      std::uint64_t h = access(op_.writes[w], c_.writes[w]);
      for (std::size_t other = 0; other < op_.writes.size(); ++other)
        if (op_.writes[other].tensor == op_.writes[w].tensor) h += mix(7, c_.writes[other]);
      if (auto* map = op_.map()) h = mix(h, up(map->values[w]));
      next_.writes[w] = mix(c_.writes[w], h);
    }
  }

  void constraints() {
    for (const Constraint& c : op_.constraints) {
      // An equation may have either sign.
      const bool either = c.comparison == Comparison::equal_zero;
      std::uint64_t sum = 0;
      for (std::size_t d = 0; d < c.expr.coefficients.size(); ++d)
        if (c.expr.coefficients[d] != 0)
          sum += mix(number(either ? std::abs(c.expr.coefficients[d]) : c.expr.coefficients[d]), c_.dims[d]);
      std::uint64_t h = mix(sum, either, number(either ? std::abs(c.expr.offset) : c.expr.offset));
      for (std::size_t d = 0; d < c.expr.coefficients.size(); ++d)
        if (c.expr.coefficients[d] != 0)
          next_.dims[d] += mix(23, h, number(either ? std::abs(c.expr.coefficients[d]) : c.expr.coefficients[d]));
    }
    for (std::size_t b = 0; b < op_.blockings.size(); ++b) {
      const Blocking& blocking = op_.blockings[b];
      next_.dims[blocking.dim] += mix(24, b, c_.dims[blocking.block_dim]);
      next_.dims[blocking.block_dim] += mix(25, b, c_.dims[blocking.dim]);
    }
  }

  void index_cells() {
    for (CellId id : p_.cells)
      if (op_.exprs[id].op == CellOp::index) next_.dims[op_.exprs[id].attribute] += mix(26, context_[id]);
    for (std::size_t d = 0; d < op_.dims.size(); ++d) next_.dims[d] = mix(c_.dims[d], next_.dims[d]);
  }

  const Prepared& p_;
  const Operator& op_;
  Colours& c_;
  Colours next_;
  std::unordered_map<CellId, std::uint64_t> up_, context_;
};

std::size_t classes(const Colours& c) {
  std::size_t count = 0;
  for (const auto* list : {&c.dims, &c.tensors, &c.reads, &c.writes})
    count += std::set<std::uint64_t>(list->begin(), list->end()).size();
  return count;
}

}  // namespace

bool commutes(CellOp op) {
  switch (op) {
    case CellOp::add:
    case CellOp::mul:
    case CellOp::min:
    case CellOp::max:
    case CellOp::equal:
    case CellOp::not_equal:
    case CellOp::bitand_:
    case CellOp::bitor_:
    case CellOp::bitxor_: return true;
    default: return false;
  }
}

Prepared prepare(const Program& program, const Operator& op, const std::vector<std::int64_t>& labels) {
  Prepared p{program, op, !op.map() && !op.reduce(), {}, labels, {}, {}, {}, {}, {}};
  for (std::uint32_t k = 0; k < op.operands.size(); ++k) {
    std::uint32_t same = k;
    for (std::uint32_t other = 0; !labels.empty() && !p.in_order && other < k && same == k; ++other)
      if (labels[other] == labels[k]) same = other;
    p.tensor.push_back(same);
  }
  p.cells = needed_cells(op, roots_of(op));
  std::set<std::uint32_t> needed;  // by reads
  for (CellId id : p.cells)
    if (op.exprs[id].op == CellOp::read) needed.insert(op.exprs[id].attribute);
  if (p.in_order)
    for (std::uint32_t r = 0; r < op.reads.size(); ++r) needed.insert(r);
  auto same_access = [&](const Access& a, const Access& b) {
    return p.tensor[a.tensor] == p.tensor[b.tensor] && a.projection == b.projection && a.coordinates == b.coordinates &&
           a.fill == b.fill;
  };
  std::set<std::uint32_t> tensors;
  for (std::uint32_t r = 0; r < op.reads.size(); ++r) {
    p.read.push_back(r);
    if (!needed.contains(r)) continue;
    for (std::uint32_t other : p.reads)
      if (!p.in_order && same_access(op.reads[other], op.reads[r])) p.read[r] = other;
    if (p.read[r] != r) continue;
    p.reads.push_back(r);
    tensors.insert(p.tensor[op.reads[r].tensor]);
  }
  p.tensors.assign(tensors.begin(), tensors.end());
  const ReduceBody* reduce = op.reduce();
  const bool in_order = reduce && program[reduce->monoid].laws.commutative != Law::proved &&
                        program[reduce->monoid].laws.commutative != Law::assumed;
  std::uint32_t position = 0;
  for (const IndexDim& dim : op.dims)
    p.dim_order.push_back(p.in_order || (in_order && dim.role == DimRole::reduction) ? ++position : 0);
  return p;
}

Colours first_colours(const Prepared& p) {
  const Operator& op = p.op;
  Colours c;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    const IndexDim& dim = op.dims[d];
    c.dims.push_back(mix(number(dim.range.lo), number(dim.range.hi), static_cast<std::uint64_t>(dim.role), dim.keep,
                         dim.level, p.dim_order[d]));
  }
  for (std::size_t k = 0; k < op.operands.size(); ++k)
    c.tensors.push_back(
        mix(colour_of(op.operands[k]), p.labels.empty() ? 0 : number(p.labels[k]) + 1, p.in_order ? k + 1 : 0));
  for (std::size_t r = 0; r < op.reads.size(); ++r) c.reads.push_back(p.in_order ? r + 1 : 0);
  for (std::size_t w = 0; w < op.writes.size(); ++w)
    c.writes.push_back(mix(colour_of(op.results[op.writes[w].tensor]), op.map() ? 0 : w + 1));
  return c;
}

void refine(const Prepared& p, Colours& colours) {
  // At least two rounds: parts that are already distinguished must also take in their surroundings.
  std::size_t known = classes(colours);
  for (int round = 0;; ++round) {
    ColourRound(p, colours).run();
    std::size_t now = classes(colours);
    if (now == known && round > 0) return;
    known = now;
  }
}

}  // namespace tap::passes::canonical
