// An operator as a sequence of numbers, for a fixed order of its dims and operands. All other parts are sorted by
// content, so that equal operators have equal codes; and all relevant parts are included, so that different operators
// have different codes.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/graph.h"
#include "passes/rewrites/canonical_operator.h"
#include "support/check.h"

namespace tap::passes::canonical {

using namespace ir;

namespace {

void append(Code& code, const Code& more) { code.insert(code.end(), more.begin(), more.end()); }

Code code_of(const Scalar& s) {
  const double f = std::isnan(s.f) ? std::nan("") : s.f;
  return {static_cast<std::int64_t>(s.type), s.i, std::bit_cast<std::int64_t>(f)};
}
Code code_of_type(const TensorType& type) {
  Code code{static_cast<std::int64_t>(type.element), static_cast<std::int64_t>(type.shape.size())};
  append(code, Code(type.shape.begin(), type.shape.end()));
  return code;
}

// Numbers cells by what they compute: equal ones have one number, and commuting arguments are sorted by number.
class CellNumbers {
 public:
  // `leaf` gives the meaning of a leaf's attribute.
  template <class Leaf>
  CellNumbers(const CellExprs& exprs, const std::vector<CellId>& cells, Leaf leaf) {
    std::vector<std::vector<CellId>> by_height;
    std::unordered_map<CellId, std::size_t> height;
    for (CellId id : cells) {
      std::size_t h = 0;
      for (CellId arg : exprs[id].args) h = std::max(h, height.at(arg) + 1);
      height[id] = h;
      if (by_height.size() <= h) by_height.resize(h + 1);
      by_height[h].push_back(id);
    }
    for (const auto& level : by_height) {
      std::map<Code, std::vector<CellId>> sorted;
      for (CellId id : level) sorted[key(exprs[id], leaf)].push_back(id);
      for (const auto& [key, ids] : sorted) {
        for (CellId id : ids) number_[id] = count_;
        ++count_;
        append(code_, key);
      }
    }
  }
  std::int64_t operator[](CellId id) const { return number_.at(id); }
  const Code& code() const { return code_; }
  std::int64_t count() const { return count_; }

 private:
  template <class Leaf>
  Code key(const CellNode& node, Leaf leaf) const {
    Code key{static_cast<std::int64_t>(node.op), static_cast<std::int64_t>(node.type), leaf(node)};
    if (node.op == CellOp::constant) append(key, code_of(node.value));
    Code args;
    for (CellId arg : node.args) args.push_back(number_.at(arg));
    if (commutes(node.op)) std::sort(args.begin(), args.end());
    key.push_back(static_cast<std::int64_t>(args.size()));
    append(key, args);
    return key;
  }

  std::unordered_map<CellId, std::int64_t> number_;
  std::int64_t count_ = 0;
  Code code_;
};

// By structure, since ids differ between programs. Without name, laws and fold.
Code code_of_monoid(const Monoid& monoid) {
  Code code{static_cast<std::int64_t>(monoid.arity())};
  for (const MonoidComponent& c : monoid.components) code.push_back(static_cast<std::int64_t>(c.type));
  std::vector<CellId> roots = monoid.identity;
  roots.insert(roots.end(), monoid.combine.begin(), monoid.combine.end());
  CellNumbers cells(monoid.exprs, reachable_from(monoid.exprs, roots),
                    [](const CellNode& node) { return static_cast<std::int64_t>(node.attribute); });
  append(code, cells.code());
  for (CellId root : roots) code.push_back(cells[root]);
  return code;
}

class Encoder {
 public:
  Encoder(const Prepared& p, const Order& order, const Colours& colours)
      : p_(p), op_(p.op), order_(order), position_(positions_of(order.dims, p.op.dims.size())) {
    std::vector<std::uint32_t> tensor_position = positions_of(order.tensors, op_.operands.size());
    for (std::uint32_t r : p_.reads) {
      const Access& read = op_.reads[r];
      Code code{tensor_position[p_.tensor[read.tensor]]};
      append(code, code_of(read.projection));
      for (const auto& coordinate : read.coordinates) code.push_back(coordinate.has_value());
      code.push_back(read.fill.has_value());
      code.push_back(p_.in_order ? r : 0);
      reads_.push_back({std::move(code), r});
    }
    std::stable_sort(reads_.begin(), reads_.end(), [&](const Read& a, const Read& b) {
      return std::tie(a.code, colours.reads[a.number]) < std::tie(b.code, colours.reads[b.number]);
    });
    for (std::size_t k = 0; k < reads_.size(); ++k) read_position_[reads_[k].number] = static_cast<std::int64_t>(k);
  }

  Code run(std::vector<std::uint32_t>& results) {
    Code code{static_cast<std::int64_t>(op_.body.index()), static_cast<std::int64_t>(op_.dims.size())};
    for (std::uint32_t d : order_.dims) {
      const IndexDim& dim = op_.dims[d];
      append(code, {dim.range.lo, dim.range.hi, static_cast<std::int64_t>(dim.role), dim.keep, std::int64_t{dim.level},
                    std::int64_t{p_.dim_order[d]}});
    }
    append(code, constraints());
    append(code, blockings());
    code.push_back(static_cast<std::int64_t>(order_.tensors.size()));
    for (std::uint32_t t : order_.tensors) {
      append(code, code_of_type(op_.operands[t]));
      code.push_back(p_.labels.empty() ? -1 : p_.labels[t]);
      code.push_back(p_.in_order ? t : 0);
    }
    CellNumbers cells(op_.exprs, p_.cells, [&](const CellNode& node) -> std::int64_t {
      if (node.op == CellOp::read) return read_position_.at(p_.read[node.attribute]);
      if (node.op == CellOp::index) return position_[node.attribute];
      return 0;
    });
    code.push_back(static_cast<std::int64_t>(reads_.size()));
    for (const Read& read : reads_) append(code, read.code), append(code, cells_of(op_.reads[read.number], cells));
    code.push_back(cells.count());
    append(code, cells.code());
    append(code, body());
    append(code, writes(cells, results));
    return code;
  }

 private:
  struct Read {
    Code code;
    std::uint32_t number;
  };

  static std::vector<std::uint32_t> positions_of(const std::vector<std::uint32_t>& order, std::size_t count) {
    std::vector<std::uint32_t> positions(count, 0);
    for (std::uint32_t k = 0; k < order.size(); ++k) positions[order[k]] = k;
    return positions;
  }

  Code code_of(const AffineExpr& e) const {
    Code code;
    for (std::uint32_t d : order_.dims) code.push_back(e.coefficients[d]);
    code.push_back(e.offset);
    return code;
  }
  Code code_of(const Projection& projection) const {
    Code code{static_cast<std::int64_t>(projection.rank())};
    for (std::size_t axis = 0; axis < projection.rank(); ++axis) {
      append(code, code_of(projection.start.rows[axis]));
      code.push_back(projection.shape[axis]);
    }
    return code;
  }
  static Code cells_of(const Access& read, const CellNumbers& cells) {
    Code code;
    for (const auto& coordinate : read.coordinates)
      if (coordinate) code.push_back(cells[*coordinate]);
    if (read.fill) code.push_back(cells[*read.fill]);
    return code;
  }

  Code constraints() const {
    std::vector<Code> all;
    for (const Constraint& c : op_.constraints) {
      Code code = code_of(c.expr);
      // e = 0 equals -e = 0: takes the form whose first coefficient is positive.
      if (c.comparison == Comparison::equal_zero) {
        auto first = std::find_if(code.begin(), code.end(), [](std::int64_t n) { return n != 0; });
        if (first != code.end() && *first < 0)
          for (std::int64_t& n : code) n = -n;
      }
      code.push_back(static_cast<std::int64_t>(c.comparison));
      all.push_back(std::move(code));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    Code code{static_cast<std::int64_t>(all.size())};
    for (const Code& one : all) append(code, one);
    return code;
  }

  Code blockings() const {
    Code code{static_cast<std::int64_t>(op_.blockings.size())};
    for (const Blocking& b : op_.blockings) {
      append(code, {position_[b.dim], position_[b.block_dim], b.blocks.count,
                    static_cast<std::int64_t>(b.blocks.boundaries.size())});
      append(code, b.blocks.boundaries);
    }
    return code;
  }

  Code body() const {
    if (auto* reduce = op_.reduce()) return code_of_monoid(p_.program[reduce->monoid]);
    if (auto* kernel = op_.kernel()) {
      Code code(kernel->symbol.begin(), kernel->symbol.end());
      if (kernel->reduced_by) append(code, code_of_monoid(p_.program[*kernel->reduced_by]));
      return code;
    }
    return {};
  }

  // Components of a reduction are ordered; the values of a map are sorted.
  Code writes(const CellNumbers& cells, std::vector<std::uint32_t>& results) const {
    std::vector<std::pair<Code, std::uint32_t>> sorted;
    for (std::uint32_t w = 0; w < op_.writes.size(); ++w) {
      const Access& write = op_.writes[w];
      Code code = code_of_type(op_.results[write.tensor]);
      append(code, code_of(write.projection));
      Code invariant;
      for (std::uint32_t d : write.invariant_dims) invariant.push_back(position_[d]);
      std::sort(invariant.begin(), invariant.end());
      append(code, invariant);
      if (auto* map = op_.map()) code.push_back(cells[map->values[w]]);
      if (auto* reduce = op_.reduce()) code.push_back(cells[reduce->operands[w]]);
      sorted.emplace_back(std::move(code), w);
    }
    if (op_.map()) std::sort(sorted.begin(), sorted.end());
    Code code{static_cast<std::int64_t>(sorted.size())};
    for (const auto& [one, w] : sorted) {
      const std::uint32_t result = op_.writes[w].tensor;
      auto known = std::find(results.begin(), results.end(), result);
      if (known == results.end()) known = results.insert(results.end(), result);
      code.push_back(known - results.begin());
      append(code, one);
    }
    return code;
  }

  const Prepared& p_;
  const Operator& op_;
  const Order& order_;
  std::vector<std::uint32_t> position_;  // by dim
  std::vector<Read> reads_;
  std::map<std::uint32_t, std::int64_t> read_position_;
};

}  // namespace

Code encode(const Prepared& p, const Order& order, const Colours& colours, std::vector<std::uint32_t>& results) {
  results.clear();
  return Encoder(p, order, colours).run(results);
}

}  // namespace tap::passes::canonical
