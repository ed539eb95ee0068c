// Rows: sequences of items that differ only in numbers, each of which increases by a constant step; and rows of rows.
//
//   apply 0 on [0..1, 0..8] device 0 times 4 by (1, 8, 1)      is four applications, the last of them on [3..4, 24..32]
//                                                              by device 3
//
// All blocks of an operation are thus one task, whether they run on one device or one on each of thousands.
#pragma once

#include <optional>
#include <utility>

#include "ir/box.h"

namespace tap::ir {

struct Level {
  std::int64_t count = 1;
  std::vector<std::int64_t> steps;  // of all numbers: first where the box is along each dim, then the others
  bool operator==(const Level&) const = default;
};
using Row = std::vector<Level>;  // outermost level first; empty for a single item

std::int64_t count_of(const Row& row);  // throws Overflow
// Whether the level changes memories or devices, and not just boxes of that rank.
bool is_across(const Level& level, std::size_t rank);

// The member of this row (the row of this id) with this number; numbers are row-major in the levels.
template <class Id>
struct Member {
  Id id = {};
  std::int64_t number = 0;
  Member() = default;
  Member(Id only, std::int64_t in_row = 0) : id(only), number(in_row) {}
  bool operator==(const Member&) const = default;
};

// The numbers of an item: of its box, if it has one, and others.
struct Numbers {
  Box* box = nullptr;
  std::vector<std::int64_t*> others = {};

  std::size_t rank() const { return box ? box->rank() : 0; }
  std::vector<std::int64_t> values() const;
  void add(const std::vector<std::int64_t>& steps, std::int64_t times) const;
  template <class Id>
  void append(std::vector<Member<Id>>& members) {
    for (Member<Id>& m : members) others.push_back(&m.number);
  }
};

// Below, `numbers_of(T&)` returns the numbers of a T, and `row_of(T&)` is its row.
template <class T>
Row& row_of(T& one) {
  return one.row;
}

template <class T>
T member(T first, std::int64_t number) {
  const Row row = std::exchange(row_of(first), {});
  for (auto level = row.rbegin(); level != row.rend(); ++level) {
    numbers_of(first).add(level->steps, number % level->count);
    number /= level->count;
  }
  return first;
}

template <class T>
std::vector<T> members(const T& first) {
  const std::int64_t count = count_of(row_of(const_cast<T&>(first)));
  std::vector<T> all;
  for (std::int64_t n = 0; n < count; ++n) all.push_back(member(first, n));
  return all;
}

// The items of each memory or device separately; rows that differ only in boxes stay.
template <class T>
std::vector<T> unroll_across(T first) {
  Row within, across;
  for (Level& level : std::exchange(row_of(first), {}))
    (is_across(level, numbers_of(first).rank()) ? across : within).push_back(std::move(level));
  row_of(first) = std::move(across);
  std::vector<T> all = members(first);
  for (T& one : all) row_of(one) = within;
  return all;
}

// The members of the outermost level.
template <class T>
std::vector<T> unroll_outermost(T first) {
  const Level level = row_of(first).front();
  row_of(first).erase(row_of(first).begin());
  std::vector<T> all{std::move(first)};
  for (std::int64_t n = 1; n < level.count; ++n) numbers_of(all.emplace_back(T(all.back()))).add(level.steps, 1);
  return all;
}

// The difference of each number, if the two items differ in nothing else.
template <class T>
std::optional<std::vector<std::int64_t>> step_between(T from, const T& to) {
  T other = to;
  std::vector<std::int64_t> step = numbers_of(from).values(), end = numbers_of(other).values();
  if (step.size() != end.size()) return std::nullopt;
  for (std::size_t k = 0; k < step.size(); ++k) step[k] = end[k] - step[k];
  if (numbers_of(from).rank() != numbers_of(other).rank()) return std::nullopt;
  numbers_of(from).add(step, 1);
  return from == to ? std::optional(step) : std::nullopt;
}

// Accepts any numbers.
inline constexpr auto always = [](const auto& /*one*/, const auto& /*next*/) { return true; };

// Merges successive lists whose items differ, one by one, by constant steps: each run becomes one list of rows. Other
// lists stay, and so do items that do not fit into one row.
template <class T, class Fit = decltype(always)>
std::vector<std::vector<T>> runs_of(std::vector<std::vector<T>> lists, const Fit& fit = always) {
  using Steps = std::vector<std::vector<std::int64_t>>;
  auto steps_between = [&fit](const std::vector<T>& a, const std::vector<T>& b) -> std::optional<Steps> {
    if (a.size() != b.size()) return std::nullopt;
    Steps steps;
    bool moves = false;
    for (std::size_t k = 0; k < a.size(); ++k) {
      auto step = step_between(a[k], b[k]);
      if (!step || !fit(a[k], b[k])) return std::nullopt;
      for (std::int64_t by : *step) moves |= by != 0;
      steps.push_back(std::move(*step));
    }
    return moves ? std::optional(std::move(steps)) : std::nullopt;
  };
  std::vector<std::vector<T>> runs;
  for (std::size_t first = 0, next = 0; first < lists.size(); first = next) {
    std::optional<Steps> steps;
    for (next = first + 1; next < lists.size(); ++next) {
      std::optional<Steps> further = steps_between(lists[next - 1], lists[next]);
      if (!further || (steps && *further != *steps)) break;
      steps = std::move(further);
    }
    std::vector<T>& run = runs.emplace_back(std::move(lists[first]));
    for (std::size_t k = 0; steps && k < run.size(); ++k) {
      Row& row = row_of(run[k]);
      row.insert(row.begin(), Level{static_cast<std::int64_t>(next - first), (*steps)[k]});
    }
  }
  return runs;
}

// The items of all lists as rows, also rows of rows: for example if every second device uses a different memory.
template <class T, class Fit = decltype(always)>
std::vector<T> in_rows_across(std::vector<std::vector<T>> lists, const Fit& fit = always) {
  for (std::size_t before = lists.size() + 1; lists.size() < before;) {
    before = lists.size();
    lists = runs_of(std::move(lists), fit);
  }
  std::vector<T> all;
  for (std::vector<T>& list : lists)
    for (T& one : list) all.push_back(std::move(one));
  return all;
}

// Merges successive items into rows.
template <class T>
std::vector<T> in_rows(std::vector<T> all) {
  std::vector<std::vector<T>> lists;
  for (T& one : all) lists.push_back({std::move(one)});
  return in_rows_across(std::move(lists));
}

}  // namespace tap::ir
