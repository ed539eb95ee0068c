#include "passes/shardings/axis_conflicts.h"

#include <algorithm>
#include <tuple>

#include "ir/shardings/mesh_position.h"

namespace tap::passes {

using namespace ir;

namespace {

int precedence(FactorKind kind) {
  switch (kind) {
    case FactorKind::pass_through: return 3;
    case FactorKind::reduction: return 2;
    case FactorKind::permutation: return 1;
    case FactorKind::need_replication: return 0;
  }
  return 0;
}

// An arbitrary but total tie-break, in which a prefix comes first.
bool comes_first(const Mesh& mesh, const Axes& a, const Axes& b) {
  auto key = [&](const AxisRef& axis) {
    return std::tuple(std::string_view(mesh[axis.id].name), axis.sub ? axis.sub->pre_size : 1, !axis.sub,
                      axis.sub ? axis.sub->size : 0);
  };
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [&](const AxisRef& x, const AxisRef& y) { return key(x) < key(y); });
}

}  // namespace

AxisContest::AxisContest(const Mesh& mesh, const Factors& factors, const std::vector<FactoredTensor>& tensors)
    : mesh_(mesh), factors_(factors), won_(factors.factors.size()), waits_for_(factors.factors.size()) {
  for (const FactoredTensor& tensor : tensors)
    for (const FactorAxes& f : tensor.axes.factors)
      for (Axes axes = f.axes; !axes.empty(); axes.pop_back()) enter(f.factor, axes);
  for (const FactoredTensor& tensor : tensors)
    for (const FactorAxes& f : tensor.axes.factors) count(f.factor, f.axes, tensor.cells);
  wait_for_majors(tensors);
}

void AxisContest::enter(std::uint32_t factor, const Axes& axes) {
  for (const Candidate& c : candidates_)
    if (c.factor == factor && c.axes == axes) return;
  candidates_.push_back({factor, axes, 0, size_of(mesh_, axes)});
}

void AxisContest::count(std::uint32_t factor, const Axes& axes, std::int64_t cells) {
  for (Candidate& c : candidates_)
    if (c.factor == factor && is_prefix(mesh_, c.axes, axes)) c.cells += cells;
}

void AxisContest::wait_for_majors(const std::vector<FactoredTensor>& tensors) {
  for (const FactoredTensor& tensor : tensors)
    for (const AxisFactors& axis : tensor.factors->axes)
      for (std::size_t k = 1; k < axis.factors.size(); ++k) {
        std::uint32_t major = axis.factors[k - 1];
        if (factors_.factors[major].size > 1) waits_for_[axis.factors[k]].push_back(major);
      }
}

bool AxisContest::better(const Candidate& a, const Candidate& b) const {
  auto rank = [&](const Candidate& c) {
    return std::tuple(c.cells, precedence(factors_.factors[c.factor].kind), c.shards, c.factor);
  };
  return rank(a) != rank(b) ? rank(a) > rank(b) : comes_first(mesh_, b.axes, a.axes);
}

const AxisContest::Candidate* AxisContest::best() const {
  const Candidate* found = nullptr;
  for (const Candidate& c : candidates_)
    if (waits_for_[c.factor].empty() && (!found || better(c, *found))) found = &c;
  return found;
}

void AxisContest::award(const Candidate& winner) {
  won_[winner.factor] = winner.axes;
  if (size_of(mesh_, winner.axes) == factors_.factors[winner.factor].size)
    for (auto& list : waits_for_) std::erase(list, winner.factor);
  std::vector<Candidate> left;
  for (Candidate c : candidates_) {
    if (c.factor != winner.factor) c.axes = prefix_without(mesh_, c.axes, winner.axes);
    // Only candidates that extend what the factor has.
    if (!is_prefix(mesh_, won_[c.factor], c.axes) || c.axes == won_[c.factor]) continue;
    c.shards = size_of(mesh_, c.axes) / size_of(mesh_, won_[c.factor]);
    left.push_back(std::move(c));
  }
  candidates_ = std::move(left);
}

std::vector<Axes> AxisContest::run() {
  while (const Candidate* winner = best()) award(Candidate(*winner));
  return won_;
}

}  // namespace tap::passes
