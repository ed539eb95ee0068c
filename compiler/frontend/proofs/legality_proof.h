// Legality, decided exactly with integer sets: for cases that closed forms cannot decide, and for the witness of
// every violation.
#pragma once

#include <optional>
#include <vector>

#include "compiler/frontend/proofs/legality.h"
#include "compiler/frontend/proofs/legality_box.h"
#include "compiler/frontend/proofs/legality_set.h"

namespace tap {

// The first of the suspect accesses, in order, that leaves its tensor, at its lexicographically smallest point.
std::optional<ReadOutside> find_read_outside(const IntegerSets& sets, const ir::Operator& op,
                                             const std::vector<bool>& suspects);

// In this order: by writer, a write out of bounds; by pair of writers, a cell written twice; a cell never written. Each
// is lexicographically smallest: by point; by pair of points (for one writer over a box, by their difference); by cell.
std::optional<Violation> find_write_violation(const IntegerSets& sets, const Shape& shape,
                                              const std::vector<Writer>& writers, const std::vector<WriteMap>& maps);

// The lexicographically smallest cell that is read and not written.
std::optional<ir::Point> find_unwritten_read(const IntegerSets& sets, const Shape& shape,
                                             const std::vector<WriteMap>& writes, const std::vector<WriteMap>& reads);

// The same question as find_write_violation, by visiting every point, if the proof takes too long: for irregular
// coefficients. Outer empty optional: there are more points than allowed, or four times as many cells, or iterates.
std::optional<std::optional<Violation>> enumerate_writes(const Shape& shape, const std::vector<Writer>& writers,
                                                         const std::vector<WriteMap>& maps, std::int64_t most_points);

// A point of the map in all of the operator's dims; reduction dims, over which the write does not range, are at their
// start.
ir::Point whole_point(const Writer& writer, const WriteMap& map, const ir::Point& point);

}  // namespace tap
