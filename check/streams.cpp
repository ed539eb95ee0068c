// Streamed reductions of a group: it processes one of their dims block by block, and combines each block with the
// previous ones.
//
//   y[] = sum[k, j] x[k, j]   streamed over j:   for each block of j in turn: y = y + sum[k, j in the block] x[k, j]
//
// All of k comes before the next block of j, so the order differs from the reduction's unless j is outermost: the
// monoid must then commute. A streamed operation runs once for each step of the stream, so the group may stream over no
// other dim, and must stream over all of this one.
#include "check/justify.h"

namespace tap::check {

namespace {

class Streams {
 public:
  Streams(const ir::Program& program, const ir::Operator& group, Assumptions& assumed)
      : program_(program), group_(group), inner_(program[group.region()->graph]), assumed_(assumed) {}

  void run() {
    for (const ir::GroupAnchor& a : anchors_) anchor(a);
    for (std::size_t o = 0; o < inner_.operations.size(); ++o)
      if (is_streamed(o)) stream(o);
  }

 private:
  static void unless(bool holds, const char* why) { expect(Obligation::group, holds, "{}", why); }
  const ir::Operator& op(std::size_t operation) const { return program_[inner_.operations[operation].op]; }
  bool is_reduced(std::size_t dim) const { return group_.dims[dim].role == ir::DimRole::reduction; }

  void anchor(const ir::GroupAnchor& a) const {
    const ir::IndexDim &shared = group_.dims[a.dim], &own = op(a.operation).dims[a.inner_dim];
    unless(own.role == shared.role && own.level == shared.level, "an anchor joins dims of different kinds");
    if (!is_reduced(a.dim)) return;
    expect(Obligation::group, own.range == shared.range, "a reduction over {}..{} is streamed over {}..{}",
           own.range.lo, own.range.hi, shared.range.lo, shared.range.hi);
    unless(shared.range.lo < shared.range.hi, "an empty reduction cannot be streamed: it must give the identity");
  }
  bool is_streamed(std::size_t operation) const {
    return std::ranges::any_of(anchors_,
                               [&](const ir::GroupAnchor& a) { return a.operation == operation && is_reduced(a.dim); });
  }

  void stream(std::size_t operation) {
    const ir::Operator& streamed = op(operation);
    unless(streamed.reduce() && streamed.blockings.empty(),
           "the streamed operation is not a reduction, or is split itself");
    bool in_any_order = false;
    for (std::uint32_t d = 0; d < group_.dims.size(); ++d) {
      auto numbers = [d](const ir::Blocking& b) { return b.block_dim == d; };
      if (!is_reduced(d) || std::ranges::any_of(group_.blockings, numbers)) continue;
      auto streams = [&](const ir::GroupAnchor& a) { return a.operation == operation && a.dim == d; };
      const std::ptrdiff_t count = std::ranges::count_if(anchors_, streams);
      expect(Obligation::group, count == 1, "a reduction is streamed {} times over dim {}, expected 1", count, d);
      in_any_order |= !is_outermost(streamed, std::ranges::find_if(anchors_, streams)->inner_dim);
    }
    for (const ir::GroupAnchor& a : anchors_) {
      auto same = [&](const ir::GroupAnchor& b) { return b.operation == operation && b.inner_dim == a.inner_dim; };
      auto numbers = [&](const ir::Blocking& b) { return b.block_dim == a.dim; };
      if (a.operation != operation) continue;
      unless(std::ranges::count_if(anchors_, same) == 1, "two dims of a group map to one dim of a reduction");
      unless(!is_reduced(a.dim) || std::ranges::none_of(group_.blockings, numbers), "a stream runs over block numbers");
    }
    require_laws(program_[streamed.reduce()->monoid], in_any_order, false, assumed_);
  }
  // No dim with several points is reduced outside it.
  static bool is_outermost(const ir::Operator& streamed, std::uint32_t dim) {
    return std::none_of(streamed.dims.begin(), streamed.dims.begin() + dim, [](const ir::IndexDim& d) {
      return d.role == ir::DimRole::reduction && d.range.hi - d.range.lo > 1;
    });
  }

  const ir::Program& program_;
  const ir::Operator& group_;
  const ir::Graph& inner_;
  Assumptions& assumed_;
  const std::vector<ir::GroupAnchor>& anchors_ = group_.region()->anchors;
};

}  // namespace

void check_streams(const ir::Program& program, const ir::Operator& group, Assumptions& assumed) {
  Streams(program, group, assumed).run();
}

}  // namespace tap::check
