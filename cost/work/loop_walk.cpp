#include "cost/work/loop_walk.h"

#include <algorithm>
#include <cmath>

namespace tap::cost {

using namespace backend;

namespace {

class Deciding {
 public:
  explicit Deciding(const Kernel& kernel) : found_(kernel.variables.size(), false) {}

  std::vector<bool> take(const std::vector<Statement>& body) {
    for (changed_ = true; changed_;) {
      changed_ = false;
      see(body);
    }
    return std::move(found_);
  }

 private:
  void mark(const ir::AffineExpr& expr) {
    for (std::size_t v = 0; v < expr.coefficients.size(); ++v) {
      if (expr.coefficients[v] == 0 || found_[v]) continue;
      found_[v] = changed_ = true;
    }
  }
  void mark(const std::vector<Bound>& bounds) {
    for (const Bound& bound : bounds) mark(bound.expr);
  }
  void see(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (auto* loop = std::get_if<For>(&statement.node)) {
        const bool several = loop->upper.size() > 1 || loop->lower.size() > 1;
        const bool whole = loop->upper.empty() || loop->lower.empty();
        // From a to a + 16: always the same number of iterations.
        const bool same = !several && !whole && loop->lower[0].divisor == 1 && loop->upper[0].divisor == 1 &&
                          (loop->upper[0].expr - loop->lower[0].expr).is_constant();
        if (!whole && !same) {
          mark(loop->lower);
          mark(loop->upper);
        }
        see(loop->body);
      } else if (auto* guard = std::get_if<Guard>(&statement.node)) {
        for (const ir::Constraint& condition : guard->conditions) mark(condition.expr);
        see(guard->body);
      } else if (auto* define = std::get_if<Define>(&statement.node)) {
        const bool plain = define->bounds.size() == 1 && define->bounds[0].divisor == 1;
        if (!plain || found_[define->variable]) mark(define->bounds);
      } else if (auto* section = std::get_if<Section>(&statement.node)) {
        see(section->body);
      }
    }
  }

  std::vector<bool> found_;
  bool changed_ = false;
};

}  // namespace

std::vector<bool> deciding_variables(const Kernel& kernel) { return Deciding(kernel).take(kernel.body); }

std::vector<Sample> samples_of(const For& loop, const Rounds& rounds, bool decides) {
  const double n = rounds.count;
  if (n <= 0) return {};
  if (loop.kind != LoopKind::serial || !decides || n < 2) return {{(rounds.first + rounds.last) / 2, n}};
  const double before = rounds.last - static_cast<double>(loop.step);
  return {{(rounds.first + before) / 2, n - 1}, {rounds.last, 1}};
}

double share_of(const Kernel& kernel, const Guard& guard, const LoopValues& values) {
  double share = guard.cell && !is_first_time(kernel, guard) ? 0.5 : 1;
  for (const ir::Constraint& condition : guard.conditions) {
    const Interval value = values.of(condition.expr);
    if (condition.comparison == ir::Comparison::equal_zero) {
      if (value.lo > 0 || value.hi < 0) return 0;
      share /= value.hi - value.lo + 1;
    } else if (value.hi < 0) {
      return 0;
    } else if (value.lo < 0) {
      share *= (value.hi + 1) / (value.hi - value.lo + 1);
    }
  }
  return share;
}

}  // namespace tap::cost
