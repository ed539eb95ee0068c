// A constraint bounds the innermost of the nest's dims that it uses: no point is visited only to be rejected.
#include "ir/interpret/interpret_domain.h"

#include <algorithm>

#include "support/checked.h"

namespace tap::ir::oracle {

bool mentions(const Constraint& constraint, std::size_t dim) { return constraint.expr.coefficients[dim] != 0; }

LoopNest::LoopNest(const Operator& op, const std::vector<std::uint32_t>& dims,
                   const std::vector<Constraint>& constraints) {
  for (std::uint32_t dim : dims) levels_.push_back({dim, op.dims[dim].range, {}});
  for (const Constraint& c : constraints) {
    auto level = std::find_if(levels_.rbegin(), levels_.rend(), [&](const Level& l) { return mentions(c, l.dim); });
    if (level == levels_.rend()) {
      fixed_.push_back(c);
      continue;
    }
    Limit limit{c.expr.coefficients[level->dim], {}, c.expr.offset, c.comparison};
    for (std::uint32_t d = 0; d < c.expr.coefficients.size(); ++d) {
      if (d != level->dim && mentions(c, d)) limit.others.push_back({d, c.expr.coefficients[d]});
    }
    level->limits.push_back(std::move(limit));
  }
}

Range LoopNest::level_range(const Level& level, const Point& p) {
  Range r = level.range;
  for (const Limit& limit : level.limits) {
    std::int64_t rest = limit.offset;
    for (auto [dim, coefficient] : limit.others) rest = checked::add(rest, checked::mul(coefficient, p[dim]));
    bool equal = limit.comparison == Comparison::equal_zero;
    std::int64_t f = limit.factor;
    if (f > 0 || equal) {  // x >= ceil(-rest / f)
      r.lo = std::max(r.lo, f > 0 ? checked::sub(0, checked::floor_div(rest, f))
                                  : checked::sub(0, checked::floor_div(checked::sub(0, rest), checked::sub(0, f))));
    }
    if (f < 0 || equal) {  // x <= floor(rest / -f)
      std::int64_t greatest = f < 0 ? checked::floor_div(rest, checked::sub(0, f))
                                    : checked::floor_div(checked::sub(0, rest), f);
      r.hi = std::min(r.hi, checked::add(greatest, 1));
    }
  }
  return r;
}

bool LoopNest::first(Point& p) {
  for (const Constraint& c : fixed_) {
    if (!c.holds(p)) return false;
  }
  for (const Level& level : levels_)
    if (level.range.empty()) return false;  // so that the outer loops do not run in vain
  return settle(0, p);
}

bool LoopNest::next(Point& p) {
  for (std::size_t level = levels_.size(); level-- > 0;) {
    if (++p[levels_[level].dim] < levels_[level].end) return settle(level + 1, p);
  }
  return false;
}

// Enters the loops from `level` inwards; if one is empty, advances the nearest outer loop that has another iteration.
bool LoopNest::settle(std::size_t level, Point& p) {
  while (level < levels_.size()) {
    Range r = level_range(levels_[level], p);
    p[levels_[level].dim] = r.lo;
    levels_[level].end = r.hi;
    while (p[levels_[level].dim] >= levels_[level].end) {
      if (level == 0) return false;
      --level;
      ++p[levels_[level].dim];
    }
    ++level;
  }
  return true;
}

}  // namespace tap::ir::oracle
