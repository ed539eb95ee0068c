#include "compiler/driver/show/sharding_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/graph.h"
#include "ir/text_names.h"
#include "support/byte_size.h"
#include "support/checked.h"

namespace tap::driver {
namespace {

using ir::Box;

// For a tensor that is too large to exist, but whose operator can still be analysed.
constexpr std::int64_t too_many = std::numeric_limits<std::int64_t>::max();

std::int64_t bytes_of_box(const Box& box, const ir::TensorType& type) {
  Box inside = intersect(box, Box::of_shape(type.shape));
  try {
    return inside.empty() ? 0 : checked::mul(inside.size(), static_cast<std::int64_t>(size_of(type.element)));
  } catch (const Overflow&) { return too_many; }
}

std::string bytes_or_more(std::int64_t bytes) {
  return bytes == too_many ? "2^63 bytes or more" : byte_size(static_cast<double>(bytes));
}

// The hull of the cells of an operand that the points of a box read, by all accesses: a stencil has several.
Box read_by(const ir::Operator& op, std::uint32_t operand, const Box& points) {
  Box all{std::vector<ir::Range>(op.operands[operand].shape.size())};
  for (const ir::Access& read : op.reads)
    if (read.tensor == operand) all = hull(all, read.projection.bounds(points));
  return all;
}

// The cells that both halves of a dim read.
std::vector<SharedBytes> shared_by_halves(const ir::Operator& op, std::uint32_t dim) {
  ir::Range range = op.dims[dim].range;
  Box lower = op.box(), upper = op.box(), whole = op.box();
  lower.dims[dim].hi = upper.dims[dim].lo = range.lo + (range.size() + 1) / 2;
  std::vector<SharedBytes> list;
  for (std::uint32_t operand = 0; operand < op.operands.size(); ++operand) {
    const ir::TensorType& type = op.operands[operand];
    Box a = read_by(op, operand, lower), b = read_by(op, operand, upper);
    std::int64_t bytes = bytes_of_box(intersect(a, b), type);
    if (bytes > 0) list.push_back({operand, bytes, bytes == bytes_of_box(read_by(op, operand, whole), type)});
  }
  return list;
}

const ir::MonoidId* monoid_of(const ir::Operator& op) {
  if (const ir::ReduceBody* reduce = op.reduce()) return &reduce->monoid;
  if (const ir::KernelBody* kernel = op.kernel()) return kernel->reduced_by ? &*kernel->reduced_by : nullptr;
  return nullptr;
}

bool writes_by(const ir::Operator& op, std::uint32_t dim) {
  return std::any_of(op.writes.begin(), op.writes.end(), [&](const ir::Access& write) {
    return std::any_of(write.projection.start.rows.begin(), write.projection.start.rows.end(),
                       [&](const ir::AffineExpr& row) { return row.coefficients[dim] != 0; });
  });
}

DimFacts facts_of(const ir::Program& program, const ir::Operator& op, std::uint32_t dim) {
  DimFacts facts{.dim = dim};
  const ir::IndexDim& index = op.dims[dim];
  const ir::MonoidId* monoid = monoid_of(op);
  if (index.keep) facts.why_not = "the kernel keeps it whole";
  else if (index.range.size() < 2) facts.why_not = "it has fewer than two points";
  else if (index.role == ir::DimRole::counter) facts.why_not = "it counts the trips of an iterate";
  else if (index.role == ir::DimRole::parallel && !writes_by(op, dim))
    facts.why_not = "all its points write the same cells";
  else facts.splittable = true;
  if (!facts.splittable) return facts;
  facts.shared = shared_by_halves(op, dim);
  if (index.role != ir::DimRole::reduction || !monoid) return facts;
  facts.combined_by = program[*monoid].name;
  for (const ir::Access& write : op.writes)
    if (__builtin_add_overflow(facts.partial_bytes,
                               bytes_of_box(write.projection.bounds(op.box()), op.results[write.tensor]),
                               &facts.partial_bytes))
      facts.partial_bytes = too_many;
  return facts;
}

}  // namespace

std::vector<DimFacts> sharding_facts(const ir::Program& program, const ir::Operator& op) {
  std::vector<DimFacts> all;
  for (std::uint32_t dim = 0; dim < op.dims.size(); ++dim) all.push_back(facts_of(program, op, dim));
  return all;
}

std::string describe(const ir::Operator& op, const DimFacts& facts) {
  std::string name = ir::variable_names(op)[facts.dim];
  if (!facts.splittable) return fmt::format("{}: no, {}", name, facts.why_not);
  std::string text = name + ": yes";
  if (!facts.combined_by.empty())
    text += fmt::format(", as partials of {} combined by {}", bytes_or_more(facts.partial_bytes), facts.combined_by);
  if (facts.shared.empty()) return text + "; shards share no operand cells";
  std::string list;
  for (const SharedBytes& shared : facts.shared)
    list += fmt::format("{}{}{} ({})", list.empty() ? "" : ", ", shared.whole ? "all of " : "a part of ",
                        ir::operand_name(op, shared.operand), bytes_or_more(shared.bytes));
  return text + "; two shards share " + list;
}

}  // namespace tap::driver
