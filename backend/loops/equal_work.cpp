#include "backend/loops/equal_work.h"

#include <algorithm>
#include <optional>

namespace tap::backend {

namespace {

// By how much variables increase if the box moves by one point along the dim. All bounds of a loop must increase alike.
class Slopes {
 public:
  Slopes(const Kernel& kernel, std::size_t dim) : kernel_(kernel), slopes_(kernel.variables.size(), 0) {
    slopes_[kernel.lo(dim)] = slopes_[kernel.hi(dim)] = 1;
  }

  bool are_alike(const std::vector<Statement>& body) {
    return std::all_of(body.begin(), body.end(), [&](const Statement& statement) {
      return std::visit([&](const auto& node) { return alike(node); }, statement.node);
    });
  }

 private:
  std::int64_t of(const ir::AffineExpr& expr) const {
    std::int64_t sum = 0;
    for (std::size_t v = 0; v < expr.coefficients.size(); ++v) sum += expr.coefficients[v] * slopes_[v];
    return sum;
  }
  // None: they differ, or depend on rounding. Pre: there is a bound.
  std::optional<std::int64_t> of(const std::vector<Bound>& bounds) const {
    std::optional<std::int64_t> common;
    for (const Bound& bound : bounds) {
      const std::int64_t slope = of(bound.expr);
      if (slope % bound.divisor != 0 || slope / bound.divisor != common.value_or(slope / bound.divisor))
        return std::nullopt;
      common = slope / bound.divisor;
    }
    return common;
  }

  bool alike(const For& loop) {
    const auto lower = of(loop.lower.empty() ? loop.upper : loop.lower);
    if (!lower || (!loop.upper.empty() && of(loop.upper) != lower)) return false;
    slopes_[loop.variable] = *lower;
    return are_alike(loop.body);
  }
  bool alike(const Guard& guard) {
    return (!guard.cell || is_first_time(kernel_, guard)) &&
           std::all_of(guard.conditions.begin(), guard.conditions.end(),
                       [&](const ir::Constraint& condition) { return of(condition.expr) == 0; }) &&
           are_alike(guard.body);
  }
  bool alike(const Define& define) {
    const auto slope = of(define.bounds);
    if (slope) slopes_[define.variable] = *slope;
    return slope.has_value();
  }
  static bool alike(const Let&) { return false; }
  bool alike(const Section& section) { return are_alike(section.body); }
  static bool alike(const Assign&) { return true; }
  static bool alike(const Store&) { return true; }
  static bool alike(const Prefetch&) { return true; }
  static bool alike(const FoldLanes&) { return true; }

  const Kernel& kernel_;
  std::vector<std::int64_t> slopes_;  // by variable
};

bool is_leaf(const Kernel& kernel, ir::CellId id) { return kernel.exprs[id].args.empty(); }

// Whether a cell takes the same time at every point, whatever the data: of what is lazy, nothing is computed.
bool takes_equal_time(const Kernel& kernel, const ir::CellNode& node) {
  if (node.op == ir::CellOp::read) {
    const Load& load = kernel.loads[node.attribute];
    return !load.fill || is_leaf(kernel, *load.fill);
  }
  if (ir::info(node.op).kind != ir::CellKind::lazy) return true;
  return std::all_of(node.args.begin() + 1, node.args.end(), [&](ir::CellId id) { return is_leaf(kernel, id); });
}

}  // namespace

bool has_equal_work(const Kernel& kernel, std::size_t dim) {
  for (std::uint32_t c = 0; c < kernel.exprs.size(); ++c)
    if (!takes_equal_time(kernel, kernel.exprs[ir::CellId(c)])) return false;
  return Slopes(kernel, dim).are_alike(kernel.body);
}

}  // namespace tap::backend
