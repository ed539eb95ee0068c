#include "backend/schedule/outside_calls.h"

#include <algorithm>
#include <utility>

#include "backend/schedule/copied_boxes.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

// The items of a row, row-major, as rows whose members behave alike. A row along one level keeps the positions in the
// inner levels: of 2 by 3, the first and the last, numbers 0 and 5, are not a row.
template <class T>
std::vector<T> in_rows_along(const Row& levels, std::vector<std::vector<T>> lists, BufferMember T::*member) {
  std::int64_t inner = 1;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    const auto count = static_cast<std::size_t>(level->count);
    auto fit = [&](const T& one, const T& next) { return ((next.*member).number - (one.*member).number) % inner == 0; };
    std::vector<std::vector<T>> outer;
    for (std::size_t first = 0; first < lists.size(); first += count) {
      const auto begin = std::make_move_iterator(lists.begin() + static_cast<std::ptrdiff_t>(first));
      outer.push_back(in_rows_across(std::vector<std::vector<T>>(begin, begin + level->count), fit));
    }
    lists = std::move(outer);
    inner *= level->count;
  }
  return std::move(lists[0]);
}

// The box that is written: an empty reduction still writes the monoid's identity.
Box writing(const Operator& op, Box box) {
  for (std::size_t d = 0; d < box.rank(); ++d)
    if (op.dims[d].role == DimRole::reduction) box.dims[d] = {box.dims[d].lo, box.dims[d].lo + 1};
  return box;
}

// The region of one access, for all calls.
struct Region {
  BufferId id;
  Application calls;  // the row of calls with a region of their own
};

class OutsideCalls {
 public:
  OutsideCalls(ScheduleTasks& tasks, const Operator& op, const Application& calls, const OutsideBuffers& buffers,
               std::size_t& order)
      : tasks_(tasks), op_(op), calls_(calls), buffers_(buffers), order_(order) {}

  std::vector<RegionOnDevice> run(OutsideCall call) {
    call.box = calls_.box;
    for (const Level& level : calls_.row)
      call.row.push_back({level.count, {level.steps.begin(), level.steps.begin() + std::ssize(calls_.box.dims)}});
    for (const Access& read : op_.reads) reads_.push_back(region(read, op_.operands[read.tensor].element, true, call));
    for (const Access& write : op_.writes)
      writes_.push_back(region(write, op_.results[write.tensor].element, false, call));
    fill();
    copy_in();
    ++order_;
    std::vector<BufferId> read, written;
    for (const Region& region : reads_) read.push_back(region.id);
    for (const Region& region : writes_) written.push_back(region.id);
    tasks_.add({std::move(call), 1}, order_++, read, written);
    copy_back();
    ++order_;
    return std::move(on_devices_);
  }

 private:
  // Calls along a level share a region if neither what is read nor its memory changes along it.
  Region region(const Access& access, ElementType element, bool is_read, OutsideCall& call) {
    const std::size_t rank = calls_.box.rank();
    Region made{{}, calls_};
    made.calls.row.clear();
    Row rows;
    std::vector<bool> own;
    for (const Level& level : calls_.row) {
      Level& by = rows.emplace_back(Level{level.count, {}});
      for (const AffineExpr& axis : access.projection.start.rows) {
        std::int64_t step = 0;
        for (std::size_t d = 0; d < rank; ++d)
          step = checked::add(step, checked::mul(axis.coefficients[d], level.steps[d]));
        by.steps.push_back(step);
      }
      auto moves = [](std::int64_t step) { return step != 0; };
      own.push_back(!is_read || level.steps[rank + 1 + access.tensor] != 0 || std::ranges::any_of(by.steps, moves));
      if (own.back()) made.calls.row.push_back(level);
      else rows.pop_back();
    }
    std::int64_t stride = 1;
    for (std::size_t l = own.size(); l-- > 0;) {
      call.row[l].steps.push_back(own[l] ? stride : 0);
      if (own[l]) stride = checked::mul(stride, call.row[l].count);
    }
    const Box points = is_read ? calls_.box : writing(op_, calls_.box);
    made.id = tasks_.new_buffer("", element, access.projection.bounds(points), rows);
    RegionOnDevice on_device{made.id, {}};
    bool shared = false;
    for (std::size_t l = 0; l < own.size(); ++l) {
      const std::int64_t step = calls_.row[l].steps[rank];
      if (own[l]) on_device.device_steps.push_back(step);
      else shared |= step != 0;
    }
    if (!shared) on_devices_.push_back(std::move(on_device));
    call.regions.emplace_back(made.id);
    return made;
  }

  template <class T, class Each>
  static std::vector<T> for_each_of(const Region& region, BufferMember T::*member, Each each) {
    std::vector<std::vector<T>> lists;
    for (const Application& one : members(region.calls)) {
      lists.emplace_back();
      each(one, BufferMember(region.id, std::ssize(lists) - 1), lists.back());
    }
    return in_rows_along(region.calls.row, std::move(lists), member);
  }

  BufferMember operand(const Application& one, const Access& read) const {
    return {buffers_.operands[read.tensor], one.operands[read.tensor].number};
  }
  Box held(const BufferMember& at) const { return member(tasks_.at(at.id), at.number).box; }

  void fill() {
    bool any = false;
    for (std::size_t k = 0; k < reads_.size(); ++k) {
      const Access& read = op_.reads[k];
      if (!read.fill) continue;
      auto add = [&](const Application& one, BufferMember to, std::vector<Fill>& list) {
        if (!held(operand(one, read)).contains(read.projection.bounds(one.box)))
          list.push_back({to, op_.exprs[*read.fill].value, {}});
      };
      for (Fill& made : for_each_of<Fill>(reads_[k], &Fill::buffer, add)) {
        tasks_.add({std::move(made), 1}, order_, {}, {reads_[k].id});
        any = true;
      }
    }
    if (any) tasks_.close();
  }

  void copy_in() {
    for (std::size_t k = 0; k < reads_.size(); ++k) {
      const Access& read = op_.reads[k];
      auto add = [&](const Application& one, BufferMember to, std::vector<CopyBox>& list) {
        const BufferMember from = operand(one, read);
        Box inside = intersect(read.projection.bounds(one.box), held(from));
        if (!inside.empty()) list.push_back({from, to, std::move(inside), {}});
      };
      for (CopyBox& made : for_each_of<CopyBox>(reads_[k], &CopyBox::to, add)) tasks_.copy(std::move(made), order_);
    }
  }

  void copy_back() {
    for (std::size_t k = 0; k < writes_.size(); ++k) {
      const Access& write = op_.writes[k];
      auto add = [&](const Application& one, BufferMember from, std::vector<CopyBox>& list) {
        const BufferMember to{buffers_.results[write.tensor], one.results[write.tensor].number};
        for (const Box& written : written_boxes(op_, write.projection, writing(op_, one.box))) {
          Box inside = intersect(written, held(to));
          if (!inside.empty()) list.push_back({from, to, std::move(inside), {}});
        }
        list = in_rows(std::move(list));
      };
      for (CopyBox& made : for_each_of<CopyBox>(writes_[k], &CopyBox::from, add)) tasks_.copy(std::move(made), order_);
    }
  }

  ScheduleTasks& tasks_;
  const Operator& op_;
  const Application& calls_;
  const OutsideBuffers& buffers_;
  std::size_t& order_;
  std::vector<Region> reads_, writes_;
  std::vector<RegionOnDevice> on_devices_;
};

}  // namespace

std::vector<RegionOnDevice> add_outside_calls(ScheduleTasks& tasks, const Operator& op, const Application& calls,
                                              const OutsideBuffers& buffers, OutsideCall call, std::size_t& order) {
  return OutsideCalls(tasks, op, calls, buffers, order).run(std::move(call));
}

}  // namespace tap::backend
