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

// Index point `point` of the operator (dims in order) reads `cell` of operand access `read`, outside its tensor.
struct ReadOutside {
  std::uint32_t read = 0;
  ir::Point point;
  ir::Point cell;
};
// Two writers (numbers into the list given; possibly the same) write `cell`, at these points. In the points of writes,
// reduction dims are at the begin of their range: a write does not range over them.
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
// In a body of iterates, of the first trip that leaves it out: the counters that writers depend on, by level.
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
  bool closed_forms = true;  // off: everything is decided by isl, to test one against the other
  // What isl may spend on one question, in its own units (about pivots of a simplex tableau; 20,000 take some 50 ms).
  unsigned long budget = 60'000;
};

// Thrown where neither a proof within the budget nor an enumeration can decide: an index space of many dims, large, with
// coefficients without any pattern.
struct Undecided : std::runtime_error {
  Undecided() : std::runtime_error("this index space is too irregular for a proof, and too large to enumerate") {}
};

// Overflow (support/checked.h) comes out of it where coordinates do not fit in 64 bits.
class Legality {
 public:
  explicit Legality(LegalityOptions options = {});
  ~Legality();
  Legality(const Legality&) = delete;
  Legality& operator=(const Legality&) = delete;

  // The first read outside its tensor, if any. Regions have no accesses and are legal by themselves.
  std::optional<ReadOutside> check_reads(const ir::Operator& op);
  // Every cell of `shape` exactly once over all writers (for every value of the counters). Dims on which a result is
  // invariant count once, whatever their range; reduction dims not at all, even where the reduction is over nothing.
  std::optional<Violation> check_writes(const Shape& shape, const std::vector<Writer>& writers);
  // The smallest cell of `shape` that a reader reads and no writer writes: of a value inside a program, of which only a part
  // may be used.
  std::optional<ir::Point> unwritten_read(const Shape& shape, const std::vector<Writer>& writers,
                                          const std::vector<Reader>& readers);
  // Per axis one more than the largest index that a write of cells reaches; 0 where it reaches none, or none above -1.
  Shape written_extent(const ir::Operator& op, std::uint32_t write);

  struct Statistics {
    std::size_t asked = 0, cached = 0, closed_form = 0, by_isl = 0, enumerated = 0;
  };
  const Statistics& statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tap
