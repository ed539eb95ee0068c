// Random small operators whose reads are guarded by conditions, affine and by data, and may leave their tensors by one.
#pragma once

#include "tests/frontend/legality_random.h"

namespace tap::testing {

using ir::CellId;
using ir::CellOp;

struct ReadSources {
  B& b;
  std::uint32_t dims;
  std::vector<CellId> reads;
  CellId unknown;  // a condition that depends on data
};

inline CellId random_condition(ReadSources& s, int depth) {
  switch (depth == 0 ? number(0, 3) : number(0, 7)) {
    case 0: return s.b.less(s.b.number(random_affine(s.dims)), s.b.number(random_affine(s.dims)));
    case 1: return s.b.condition(CellOp::equal, {s.b.number(random_affine(s.dims, 1)), s.b.number(0)});
    case 2: return s.b.condition(CellOp::not_equal, {s.b.number(random_affine(s.dims, 1)), s.b.number(0)});
    case 3: return s.unknown;
    case 4: return s.b.opposite(random_condition(s, depth - 1));
    case 5: return s.b.both(random_condition(s, depth - 1), random_condition(s, depth - 1));
    case 6: return s.b.either(random_condition(s, depth - 1), random_condition(s, depth - 1));
    default: {
      CellId c = random_condition(s, depth - 1), t = random_condition(s, depth - 1);
      return s.b.choose(c, t, random_condition(s, depth - 1));
    }
  }
}
inline CellId random_value(ReadSources& s, int depth) {
  switch (depth == 0 ? number(0, 1) : number(0, 4)) {
    case 0: return s.b.zero();
    case 1: return s.reads[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(s.reads.size()) - 1))];
    case 2: return s.b.plus(random_value(s, depth - 1), random_value(s, depth - 1));
    default: {
      CellId c = random_condition(s, 2), t = random_value(s, depth - 1);
      return s.b.choose(c, t, random_value(s, depth - 1));
    }
  }
}

// Mostly legal over the box: the extent fits the coordinates, give or take one.
inline void add_random_read(ReadSources& s, const ir::Box& box) {
  Shape shape;
  std::vector<ir::AffineExpr> start;
  for (std::int64_t axes = number(0, 2); axes > 0; --axes) {
    ir::AffineExpr e = random_affine(s.dims);
    ir::Range range = e.bounds(box);
    e.offset -= range.lo + (number(0, 3) == 0 ? number(-1, 1) : 0);
    shape.push_back(std::max<std::int64_t>(0, range.size() + (number(0, 3) == 0 ? number(-1, 1) : 0)));
    start.push_back(e);
  }
  std::optional<CellId> fill;
  if (!s.reads.empty() && number(0, 4) == 0) fill = s.reads.back();
  s.reads.push_back(s.b.read(shape, start));
  s.b.last_read().fill = fill;
}

inline ir::Operator random_reader() {
  B b;
  std::uint32_t dims = static_cast<std::uint32_t>(number(1, 3));
  ir::Box box;
  for (std::uint32_t d = 0; d < dims; ++d) {
    std::int64_t lo = number(-2, 2);
    box.dims.push_back({lo, lo + number(d == 0 ? 1 : 0, 5)});
    b.parallel(lo, box.dims.back().hi);
  }
  random_constraints(b, dims);
  ReadSources s{b, dims, {}, {}};
  s.unknown = b.less(b.read({}, {}), b.zero());
  for (std::int64_t n = number(1, 3); n > 0; --n) add_random_read(s, box);
  b.value(random_value(s, 3));
  return b.build();
}

}  // namespace tap::testing
