#include "compiler/frontend/proofs/legality.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/frontend/proofs/legality_box.h"
#include "compiler/frontend/proofs/legality_digits.h"
#include "compiler/frontend/proofs/legality_proof.h"
#include "compiler/frontend/proofs/legality_reads.h"
#include "compiler/frontend/proofs/legality_set.h"
#include "ir/hash.h"
#include "support/checked.h"

namespace tap {
namespace {

// Over-approximate but fast: one box around each region (see legality_reads.h).
class BoxAlgebra {
 public:
  using Region = std::optional<ir::Box>;  // empty optional: no point

  explicit BoxAlgebra(const ir::Operator& op) : everywhere_(around(op.box(), op.constraints)) {}
  Region everywhere() const { return everywhere_; }
  Region satisfying(const std::vector<ir::Constraint>& all) const {
    return everywhere_ ? around(*everywhere_, all) : std::nullopt;
  }
  Region unite(const Region& a, const Region& b) const { return a && b ? hull(*a, *b) : a ? a : b; }
  Region intersect(const Region& a, const Region& b) const {
    if (!a || !b) return std::nullopt;
    ir::Box both = ir::intersect(*a, *b);
    return both.empty() ? std::nullopt : std::optional(both);
  }
  Region outside(const Region& region, const ir::Access&, const Shape&) const { return region; }

 private:
  static Region around(const ir::Box& box, const std::vector<ir::Constraint>& constraints) {
    try {
      return tighten(box, constraints);
    } catch (const Overflow&) {
      return box;  // not narrowed, but still contains the points
    }
  }
  Region everywhere_;
};

const Shape& shape_of(const ir::Operator& op, const ir::Access& read) { return op.operands[read.tensor].shape; }

// The unfilled reads that boxes cannot prove to be in bounds, first without guards, then with them.
std::vector<bool> unproved_reads(const ir::Operator& op) {
  BoxAlgebra algebra(op);
  std::vector<bool> unproved(op.reads.size(), false);
  if (!algebra.everywhere()) return unproved;
  for (std::size_t k = 0; k < op.reads.size(); ++k) {
    const ir::Access& read = op.reads[k];
    unproved[k] = !read.fill && !reads_inside(read, shape_of(op, read), *algebra.everywhere());
  }
  if (op.kernel() || std::count(unproved.begin(), unproved.end(), true) == 0) return unproved;
  auto regions = ReadRegions<BoxAlgebra>(op, algebra).of(unproved);
  for (std::size_t k = 0; k < op.reads.size(); ++k) {
    if (!unproved[k]) continue;
    bool evaluated = regions[k] && *regions[k];
    unproved[k] = evaluated && !reads_inside(op.reads[k], shape_of(op, op.reads[k]), **regions[k]);
  }
  return unproved;
}

std::vector<bool> unfilled_reads(const ir::Operator& op) {
  std::vector<bool> unfilled;
  for (const ir::Access& read : op.reads) unfilled.push_back(!read.fill);
  return unfilled;
}

// Everything that the proof about writes depends on.
struct WriteQuestion {
  Shape shape;
  std::vector<WriteMap> maps;
  bool operator==(const WriteQuestion&) const = default;
};

std::size_t mixed(std::size_t hash, std::int64_t value) {
  return ir::hash_combine(hash, static_cast<std::size_t>(value));
}
std::size_t mixed(std::size_t hash, const ir::AffineExpr& e) {
  for (std::int64_t c : e.coefficients) hash = mixed(hash, c);
  return mixed(hash, e.offset);
}

std::size_t hash_of(const WriteQuestion& question) {
  std::size_t hash = question.shape.size();
  for (std::int64_t n : question.shape) hash = mixed(hash, n);
  for (const WriteMap& map : question.maps) {
    hash = ir::hash_combine(hash, map.dims.size());
    for (const ir::Range& range : map.domain.box.dims) hash = mixed(mixed(hash, range.lo), range.hi);
    for (const ir::Constraint& c : map.domain.constraints) hash = mixed(hash, c.expr);
    for (const ir::AffineExpr& row : map.projection.start.rows) hash = mixed(hash, row);
  }
  return hash;
}

// Verdicts by question. Keeps only those that isl decided, since closed forms are as fast as a lookup. Cleared when
// full.
template <class Question, class Verdict>
class Cache {
 public:
  template <class Same>
  const Verdict* find(std::size_t hash, Same same) const {
    auto [begin, end] = entries_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (same(it->second.first)) return &it->second.second;
    }
    return nullptr;
  }
  void add(std::size_t hash, Question question, Verdict verdict) {
    if (entries_.size() >= 8192) entries_.clear();
    entries_.emplace(hash, std::pair(std::move(question), std::move(verdict)));
  }

 private:
  std::unordered_multimap<std::size_t, std::pair<Question, Verdict>> entries_;
};

// The largest value of an affine expression on a domain; empty if the domain is.
std::optional<std::int64_t> largest_value(const IntegerSets& sets, const ir::Domain& domain, const ir::AffineExpr& e) {
  // Prepends a dim that equals -e: its least value is the first coordinate of the least point.
  auto shifted = [](const ir::AffineExpr& expr, std::int64_t first) {
    ir::AffineExpr result = expr;
    result.coefficients.insert(result.coefficients.begin(), first);
    return result;
  };
  System system{domain.box.rank() + 1, {}};
  for (std::size_t d = 0; d < domain.box.rank(); ++d) system.inside(d + 1, domain.box.dims[d]);
  for (const ir::Constraint& c : domain.constraints) system.constraints.push_back({shifted(c.expr, 0), c.comparison});
  system.equal(shifted(e, 1), 0);
  auto least = sets.of(system).lexmin();
  return least ? std::optional(checked::sub(0, least->front())) : std::nullopt;
}

// An iterate without trips applies nothing.
bool never_applied(const std::vector<WriteMap>& maps) {
  for (const WriteMap& map : maps) {
    for (std::size_t d = 0; d < map.dims.size(); ++d) {
      if (map.dims[d].role == ir::DimRole::counter && map.domain.box.dims[d].empty()) return true;
    }
  }
  return false;
}

}  // namespace

struct Legality::State {
  LegalityOptions options;
  Statistics statistics;
  IntegerSets sets;
  Cache<ir::Operator, std::optional<ReadOutside>> reads;
  Cache<WriteQuestion, std::optional<Violation>> writes;
  Cache<WriteMap, Shape> extents;

  std::optional<ReadOutside> find_read_outside(const ir::Operator& op, const std::vector<bool>& suspects) {
    ++statistics.by_isl;
    sets.set_budget(options.budget);
    try {
      return tap::find_read_outside(sets, op, suspects);
    } catch (const OutOfBudget&) { throw Undecided(); }
  }
  std::optional<Violation> find_write_violation(const Shape& shape, const std::vector<Writer>& writers,
                                                const std::vector<WriteMap>& maps) {
    ++statistics.by_isl;
    SplitDigits split = split_digits(shape, maps);
    std::optional<Violation> violation = decide_writes(split.shape, writers, split.maps);
    if (!violation) return violation;
    if (auto* v = std::get_if<NeverWritten>(&*violation)) v->cell = split.first_cell(v->cell);
    if (auto* v = std::get_if<WrittenTwice>(&*violation)) v->cell = split.cell_of_points(v->cell);
    if (auto* v = std::get_if<WriteOutside>(&*violation)) v->cell = split.cell_of_points(v->cell);
    return violation;
  }
  // isl finds the smallest witness quickly for typical programs. Otherwise, enumeration is faster if there are few
  // points.
  std::optional<Violation> decide_writes(const Shape& shape, const std::vector<Writer>& writers,
                                         const std::vector<WriteMap>& maps) {
    struct Step {
      unsigned long budget;
      std::int64_t points;
    };
    for (Step step : {Step{std::min(options.budget, 5'000ul), 1 << 17}, Step{options.budget, 1 << 22}}) {
      sets.set_budget(step.budget);
      try {
        return tap::find_write_violation(sets, shape, writers, maps);
      } catch (const OutOfBudget&) {}
      if (auto verdict = enumerate_writes(shape, writers, maps, step.points)) return ++statistics.enumerated, *verdict;
    }
    throw Undecided();
  }
};

Legality::Legality(LegalityOptions options) : state_(std::make_unique<State>()) { state_->options = options; }
Legality::~Legality() = default;

std::optional<ReadOutside> Legality::check_reads(const ir::Operator& op) {
  State& s = *state_;
  ++s.statistics.queries;
  if (op.region() || op.reads.empty()) return ++s.statistics.closed_form, std::nullopt;
  std::vector<bool> suspects = s.options.closed_forms ? unproved_reads(op) : unfilled_reads(op);
  if (std::count(suspects.begin(), suspects.end(), true) == 0) return ++s.statistics.closed_form, std::nullopt;

  std::size_t hash = structural_hash(op);
  auto known = s.reads.find(hash, [&](const ir::Operator& other) { return equal_structure(op, other); });
  if (known) return ++s.statistics.cached, *known;
  std::optional<ReadOutside> verdict = s.find_read_outside(op, suspects);
  s.reads.add(hash, op, verdict);
  return verdict;
}

std::optional<Violation> Legality::check_writes(const Shape& shape, const std::vector<Writer>& writers) {
  State& s = *state_;
  ++s.statistics.queries;
  WriteQuestion question{shape, {}};
  for (const Writer& writer : writers) question.maps.push_back(write_map(*writer.op, writer.write));
  if (never_applied(question.maps) || (s.options.closed_forms && tiles_exactly(shape, question.maps))) {
    return ++s.statistics.closed_form, std::nullopt;
  }
  std::size_t hash = hash_of(question);
  auto known = s.writes.find(hash, [&](const WriteQuestion& other) { return question == other; });
  if (known) return ++s.statistics.cached, *known;
  std::optional<Violation> verdict = s.find_write_violation(shape, writers, question.maps);
  s.writes.add(hash, std::move(question), verdict);
  return verdict;
}

std::optional<ir::Point> Legality::unwritten_read(const Shape& shape, const std::vector<Writer>& writers,
                                                  const std::vector<Reader>& readers) {
  std::vector<WriteMap> writes, reads;
  for (const Writer& writer : writers) writes.push_back(write_map(*writer.op, writer.write));
  for (const Reader& reader : readers) reads.push_back(read_map(*reader.op, reader.read));
  state_->sets.set_budget(state_->options.budget);
  try {
    return find_unwritten_read(state_->sets, shape, writes, reads);
  } catch (const OutOfBudget&) { throw Undecided(); }
}

Shape Legality::written_extent(const ir::Operator& op, std::uint32_t write) {
  State& s = *state_;
  WriteMap map = write_map(op, write);
  // In an iterate without trips, locals have the size that they would have in a trip.
  for (std::size_t k = 0; k < map.dims.size(); ++k)  // the operator's dims that the write depends on
    if (ir::Range& trips = map.domain.box.dims[k]; map.dims[k].role == ir::DimRole::counter && trips.empty())
      trips.hi = trips.lo + 1;
  Shape extent(map.projection.start.rows.size(), 0);
  for (std::size_t axis = 0; axis < extent.size(); ++axis) {
    // An axis has its size even if another one is empty: x[i, j] of 2 and 0 has shape [2, 0].
    const ir::AffineExpr& row = map.projection.start.rows[axis];
    ir::Box box = map.domain.box;
    for (std::size_t d = 0; d < box.rank(); ++d)
      if (row.coefficients[d] == 0) box.dims[d] = {0, 1};
    extent[axis] = std::max<std::int64_t>(row.bounds(box).hi, 0);
  }
  if (map.domain.constraints.empty() || map.domain.box.empty()) return extent;
  std::size_t hash = hash_of({{}, {map}});
  auto known = s.extents.find(hash, [&](const WriteMap& other) { return map == other; });
  if (known) return *known;
  s.sets.set_budget(s.options.budget);
  try {
    for (std::size_t axis = 0; axis < extent.size(); ++axis) {
      auto largest = largest_value(s.sets, map.domain, map.projection.start.rows[axis]);
      extent[axis] = largest ? std::max<std::int64_t>(checked::add(*largest, 1), 0) : 0;
    }
  } catch (const OutOfBudget&) {
    // Keep the bounding box: if the local is too large, a cell that is never written is reported.
  }
  s.extents.add(hash, std::move(map), extent);
  return extent;
}

const Legality::Statistics& Legality::statistics() const { return state_->statistics; }

}  // namespace tap
