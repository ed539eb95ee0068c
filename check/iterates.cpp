// Iterates: by induction over their trips, and unrolled trips.
#include "check/justify.h"

namespace tap::check {

// By induction: equal states before a trip give equal states after it. One trip of the new body may be several of the
// old one, and the new iterate may have only the first trips.
void Justify::same_iterate(const Side& before, const ir::OperationRef& from) {
  constexpr auto obligation = Obligation::induction;
  const ir::RegionBody *a = side_.op->region(), *b = before.op->region();
  expect(obligation, a && a->kind == ir::RegionKind::iterate, "an iterate became a different operation");
  const ir::GraphClaim* claim = context_.claim_of(a->graph, b->graph);
  expect(obligation, claim, "no claim relates the bodies");
  std::int64_t last = checked::add(checked::mul(claim->steps, a->trips.hi), claim->first);
  expect(obligation, checked::add(checked::mul(claim->steps, a->trips.lo), claim->first) == b->trips.lo,
         "the first trip is not trip {}", b->trips.lo);
  expect(obligation, a->trips.lo <= a->trips.hi && last <= b->trips.hi, "it runs to trip {}, but ended before trip {}",
         last, b->trips.hi);
  expect(obligation, side_.operands == before.operands, "its operands differ");
  expect(obligation, side_.results.size() == before.results.size(), "its results differ");
  ir::Path body = from.path;
  body.push_back(from.operation);
  for (std::size_t k = 0; k < side_.results.size(); ++k) {
    Class state = before.results[k];
    if (last < b->trips.hi) state = numbering_.class_of({body, context_.before[b->graph].inputs[k], last});
    expect(obligation, numbering_.same(side_.results[k], state), "result {} is not the state after {} trips", k,
           last - b->trips.lo);
  }
}

// The operation with the trip number instead of its iterate's counter; outer counters are one level nearer, unless the
// iterate stays.
Justify::Result Justify::justify(const ir::TripOf& j) {
  constexpr auto obligation = Obligation::unroll;
  Side before = numbering_.side(j.from, j.step);
  const ir::Operator &a = *side_.op, &b = *before.op;
  const bool several = claim_.steps != 1 || claim_.first != 0;
  const std::size_t over = a.dims.size();
  auto counter_of = [](const ir::Operator& op) -> std::optional<std::uint32_t> {
    for (std::uint32_t d : dims_of_role(op, ir::DimRole::counter))
      if (op.dims[d].level == 0) return d;
    return std::nullopt;
  };
  const auto was = counter_of(b), is = several && was ? counter_of(a) : std::nullopt;
  expect(obligation, !several || !was || is, "the counter is missing");
  Dims dims = in_order(b, over, obligation, was ? std::set{*was} : std::set<std::uint32_t>{}, is);
  if (was) {
    dims[*was] = number(over, several ? checked::add(claim_.first, j.step) : j.step);
    if (is) dims[*was] = *dims[*was] + scale(unit(over, *is), claim_.steps);
  }
  // Inner graphs have the same counters only if they do not use this one.
  if (b.region()) same_region(side_, before);
  Match match(side_, before, dims, obligation);
  Form expected = match.form();
  for (ir::IndexDim& dim : expected.dims)
    if (dim.role == ir::DimRole::counter && !several) --dim.level;
  if (is) match.insert(expected, *is, a.dims[*is]);
  match.is(expected);
  return {obligation, {j.from}};
}

}  // namespace tap::check
