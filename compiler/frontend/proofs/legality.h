// Legality, proved with isl: every read is in bounds (including affine guards) or has a fill; every cell of every
// value is written exactly once by all its writers together. Verdicts are cached by structure; closed forms decide
// the common cases.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "ir/operator.h"

namespace tap {

// Index point `point` of the operator (dims in order) reads `cell` of operand access `read`, out of bounds.
struct ReadOutside {
  std::uint32_t read = 0;
  ir::Point point;
  ir::Point cell;
};
// Two writers (numbers in the given list; possibly the same) write `cell`, at these points. In the points of writes,
// reduction dims are at their start, since a write does not range over them.
struct WrittenTwice {
  std::uint32_t first = 0, second = 0;
  ir::Point first_point, second_point;
  ir::Point cell;
};
struct WriteOutside {
  std::uint32_t writer = 0;
  ir::Point point;
  ir::Point cell;
};
// In a body of iterates, for the first trip without the cell: the counters that writers depend on, by level.
struct NeverWritten {
  ir::Point cell;
  std::vector<std::pair<std::uint32_t, std::int64_t>> trip = {};
};
using Violation = std::variant<ReadOutside, WrittenTwice, WriteOutside, NeverWritten>;

// One writer of a value: an operator and the number of its write.
struct Writer {
  const ir::Operator* op;
  std::uint32_t write;
};

// One reader of a value: an operator and the number of its read.
struct Reader {
  const ir::Operator* op;
  std::uint32_t read;
};

struct LegalityOptions {
  bool closed_forms = true;  // off: isl decides everything, to test one against the other
  // The budget of isl for one question, in its own units (about pivots of a simplex tableau; 20,000 take some 50 ms).
  unsigned long budget = 60'000;
};

// Thrown if neither a proof within the budget nor an enumeration can decide: a large index space of many dims with
// irregular coefficients.
struct Undecided : std::runtime_error {
  Undecided() : std::runtime_error("this index space is too irregular for a proof, and too large to enumerate") {}
};

// Throws Overflow (support/checked.h) if coordinates do not fit in 64 bits.
class Legality {
 public:
  explicit Legality(LegalityOptions options = {});
  ~Legality();
  Legality(const Legality&) = delete;
  Legality& operator=(const Legality&) = delete;

  // The first read out of bounds, if any. Regions have no accesses and are legal.
  std::optional<ReadOutside> check_reads(const ir::Operator& op);
  // Whether all writers together write every cell of `shape` exactly once (for every value of the counters). Invariant
  // dims count once, whatever their range; reduction dims do not count, even if the reduction is empty.
  std::optional<Violation> check_writes(const Shape& shape, const std::vector<Writer>& writers);
  // The smallest cell of `shape` that a reader reads and no writer writes: for a value inside a program, of which only
  // a part may be used.
  std::optional<ir::Point> unwritten_read(const Shape& shape, const std::vector<Writer>& writers,
                                          const std::vector<Reader>& readers);
  // Per axis, one more than the largest index that is written; 0 if there is none, or none above -1.
  Shape written_extent(const ir::Operator& op, std::uint32_t write);

  struct Statistics {
    std::size_t queries = 0, cached = 0, closed_form = 0, by_isl = 0, enumerated = 0;
  };
  const Statistics& statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tap
