#include <algorithm>

#include "compiler/frontend/proofs/legality_proof.h"
#include "support/checked.h"

namespace tap {
namespace {

bool is_small(const Shape& shape, const std::vector<WriteMap>& maps, std::int64_t most_points) {
  try {
    std::int64_t points = 0;
    for (const WriteMap& map : maps) {
      for (const WriteDim& dim : map.dims) {
        if (dim.role == ir::DimRole::counter) return false;
      }
      std::int64_t cells = checked::mul(map.domain.box.size(), element_count(map.projection.shape));
      points = checked::add(points, cells);
    }
    return points <= most_points && element_count(shape) <= 4 * most_points;
  } catch (const Overflow&) { return false; }
}

// Calls `visit` with each point of the domain in order, until it returns true.
template <class Visit>
void until(const ir::Domain& domain, Visit visit) {
  auto p = first_point(domain.box);
  if (!p) return;
  do {
    if (domain.contains(*p) && visit(*p)) return;
  } while (next_point(domain.box, *p));
}

class Enumeration {
 public:
  Enumeration(const Shape& shape, const std::vector<Writer>& writers, const std::vector<WriteMap>& maps)
      : whole_(ir::Box::of_shape(shape)),
        strides_(row_major_strides(shape)),
        writers_(writers),
        maps_(maps),
        written_(static_cast<std::size_t>(element_count(shape))) {}

  std::optional<Violation> run() {
    std::optional<Violation> found;
    for (std::uint32_t w = 0; w < maps_.size() && !found; ++w) {
      until(maps_[w].domain, [&](const ir::Point& p) { return (found = write_outside(w, p)).has_value(); });
    }
    for (std::uint32_t w = 0; w < maps_.size() && !found; ++w) {
      until(maps_[w].domain, [&](const ir::Point& p) { return (found = write(w, p)).has_value(); });
    }
    return found ? found : never_written();
  }

 private:
  struct By {
    std::uint32_t writer = 0;
    ir::Point point;  // of the map
  };

  std::optional<Violation> write_outside(std::uint32_t w, const ir::Point& p) {
    ir::Box image = maps_[w].projection.image(p);
    if (image.empty() || whole_.contains(image)) return std::nullopt;
    ir::Point cell = *first_point(image);
    for (std::size_t axis = 0; axis < cell.size(); ++axis) {
      if (cell[axis] >= 0 && image.dims[axis].hi > whole_.dims[axis].hi)
        cell[axis] = std::max(cell[axis], whole_.dims[axis].hi);
    }
    return WriteOutside{w, whole_point(writers_[w], maps_[w], p), cell};
  }

  std::optional<Violation> write(std::uint32_t w, const ir::Point& p) {
    ir::Box image = maps_[w].projection.image(p);
    auto cell = first_point(image);
    if (!cell) return std::nullopt;
    do {
      std::uint32_t& by = written_[position(*cell)];
      if (by == 0) {
        if (points_.empty() || points_.back().writer != w || points_.back().point != p) points_.push_back({w, p});
        by = static_cast<std::uint32_t>(points_.size());
      } else if (const By& first = points_[by - 1]; first.writer != w || differ(maps_[w], first.point, p)) {
        return WrittenTwice{first.writer, w, whole_point(writers_[first.writer], maps_[first.writer], first.point),
                            whole_point(writers_[w], maps_[w], p), *cell};
      }
    } while (next_point(image, *cell));
    return std::nullopt;
  }

  static bool differ(const WriteMap& map, const ir::Point& p, const ir::Point& q) {
    for (std::size_t d = 0; d < p.size(); ++d) {
      if (!map.dims[d].invariant && p[d] != q[d]) return true;
    }
    return false;
  }

  std::optional<Violation> never_written() const {
    auto cell = first_point(whole_);
    if (!cell) return std::nullopt;
    do {
      if (written_[position(*cell)] == 0) return NeverWritten{*cell};
    } while (next_point(whole_, *cell));
    return std::nullopt;
  }

  std::size_t position(const ir::Point& cell) const {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < cell.size(); ++axis) at += cell[axis] * strides_[axis];
    return static_cast<std::size_t>(at);
  }

  ir::Box whole_;
  std::vector<std::int64_t> strides_;
  const std::vector<Writer>& writers_;
  const std::vector<WriteMap>& maps_;
  std::vector<By> points_;              // that were the first to write a cell
  std::vector<std::uint32_t> written_;  // by cell: number in points_, from 1; 0: none
};

}  // namespace

std::optional<std::optional<Violation>> enumerate_writes(const Shape& shape, const std::vector<Writer>& writers,
                                                         const std::vector<WriteMap>& maps, std::int64_t most_points) {
  if (!is_small(shape, maps, most_points)) return std::nullopt;
  return Enumeration(shape, writers, maps).run();
}

}  // namespace tap
