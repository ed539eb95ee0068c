// The algebra of axes against brute force: a digit is what it says about the coordinates of an axis.
#include "ir/shardings/axis_algebra.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ir/shardings/mesh_position.h"
#include "tests/ir/axis_by_name.h"

namespace tap::ir {
namespace {

const Mesh mesh{"m", {{"a", 2}, {"y", 12}, {"z", 1}, {"w", 16}, {"p", 30}}, {}};

AxisRef whole(const std::string& name) { return full(mesh, name); }
AxisRef part_of(const std::string& name, std::int64_t pre, std::int64_t size) {
  return axis_of(mesh, *find_axis(mesh, name), {pre, size});
}

std::int64_t value(std::int64_t coordinate, std::int64_t n, SubAxis d) {
  return coordinate / (n / (d.pre_size * d.size)) % d.size;
}

struct Digits {
  std::int64_t n;
  std::vector<AxisRef> all;
};
Digits digits_of(const std::string& name) {
  Digits result{mesh[*find_axis(mesh, name)].size, {}};
  for (std::int64_t pre = 1; pre <= result.n; ++pre)
    for (std::int64_t size = 2; pre * size <= result.n; ++size)
      if (result.n % (pre * size) == 0) result.all.push_back(part_of(name, pre, size));
  return result;
}

// All ways to write the digits of n, as ascending chains of divisors from 1 to n.
void chains(std::int64_t n, std::vector<std::int64_t> so_far, std::vector<std::set<std::int64_t>>& all) {
  if (so_far.back() == n) all.emplace_back(so_far.begin(), so_far.end());
  for (std::int64_t next = so_far.back() * 2; next <= n; next += so_far.back()) {
    if (n % next != 0) continue;
    so_far.push_back(next);
    chains(n, so_far, all);
    so_far.pop_back();
  }
}

bool determines(std::int64_t n, SubAxis a, SubAxis b) {
  std::map<std::int64_t, std::int64_t> seen;
  for (std::int64_t c = 0; c < n; ++c) {
    auto [it, fresh] = seen.try_emplace(value(c, n, a), value(c, n, b));
    if (it->second != value(c, n, b)) return false;
  }
  return true;
}

std::size_t distinct(std::int64_t n, SubAxis a, SubAxis b) {
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t c = 0; c < n; ++c) pairs.emplace(value(c, n, a), value(c, n, b));
  return pairs.size();
}

template <class Check>
void for_pairs(const Check& check) {
  for (std::string name : {"a", "y", "w", "p"}) {
    Digits digits = digits_of(name);
    for (const AxisRef& a : digits.all)
      for (const AxisRef& b : digits.all) {
        SCOPED_TRACE(to_string(mesh, a) + " and " + to_string(mesh, b) + " of " + std::to_string(digits.n));
        check(digits, a, b);
      }
  }
}

TEST(AxisAlgebra, CompatibleIfOneChainHasBoth) {
  std::map<std::int64_t, std::vector<std::set<std::int64_t>>> of_size;
  for_pairs([&](const Digits& all, const AxisRef& a, const AxisRef& b) {
    if (of_size[all.n].empty()) chains(all.n, {1}, of_size[all.n]);
    bool fit = false;
    for (const auto& chain : of_size[all.n]) {
      bool both = true;
      for (const AxisRef& x : {a, b}) {
        SubAxis d = digit(mesh, x);
        both &= chain.count(d.pre_size) && chain.count(d.pre_size * d.size);
      }
      fit |= both;
    }
    EXPECT_EQ(are_compatible(mesh, a, b), fit);
  });
}

TEST(AxisAlgebra, OverlapIfValuesDepend) {
  for_pairs([](const Digits& all, const AxisRef& a, const AxisRef& b) {
    if (!are_compatible(mesh, a, b)) return;
    SubAxis p = digit(mesh, a), q = digit(mesh, b);
    bool independent = distinct(all.n, p, q) == static_cast<std::size_t>(p.size * q.size);
    EXPECT_EQ(overlap(mesh, a, b), !independent);
  });
}

TEST(AxisAlgebra, ContainsTheAxesItDetermines) {
  for_pairs([](const Digits& all, const AxisRef& a, const AxisRef& b) {
    EXPECT_EQ(contains(mesh, a, b), determines(all.n, digit(mesh, a), digit(mesh, b)));
  });
}

TEST(AxisAlgebra, PrefixesAreQuotients) {
  for_pairs([](const Digits& all, const AxisRef& a, const AxisRef& b) {
    SubAxis p = digit(mesh, a), q = digit(mesh, b);
    bool quotient = q.size % p.size == 0;
    for (std::int64_t c = 0; c < all.n && quotient; ++c)
      quotient = value(c, all.n, p) == value(c, all.n, q) / (q.size / p.size);
    EXPECT_EQ(is_prefix(mesh, a, b), quotient);
  });
}

// Of all digits with a property the largest; nothing if there is none.
template <class Property>
std::optional<AxisRef> largest(const Digits& all, const Property& property) {
  std::optional<AxisRef> best;
  for (const AxisRef& c : all.all)
    if (property(c) && (!best || size_of(mesh, c) > size_of(mesh, *best))) best = c;
  return best;
}

TEST(AxisAlgebra, LargestSharedParts) {
  for_pairs([](const Digits& all, const AxisRef& a, const AxisRef& b) {
    if (!are_compatible(mesh, a, b)) {
      EXPECT_EQ(common_prefix(mesh, a, b), std::nullopt);
      EXPECT_EQ(prefix_without(mesh, a, b), std::nullopt);
      return;
    }
    EXPECT_EQ(common_prefix(mesh, a, b),
              largest(all, [&](const AxisRef& c) { return is_prefix(mesh, c, a) && is_prefix(mesh, c, b); }));
    EXPECT_EQ(shared(mesh, a, b),
              largest(all, [&](const AxisRef& c) { return contains(mesh, a, c) && contains(mesh, b, c); }));
    EXPECT_EQ(prefix_without(mesh, a, b), largest(all, [&](const AxisRef& c) {
                return is_prefix(mesh, c, a) && !overlap(mesh, c, b) && are_compatible(mesh, c, b);
              }));
  });
}

TEST(AxisAlgebra, RemainderAndSharedPartAreTheWhole) {
  for_pairs([](const Digits& all, const AxisRef& a, const AxisRef& b) {
    if (!are_compatible(mesh, a, b)) return;
    Axes left = without(mesh, a, b);
    auto common = shared(mesh, a, b);
    std::int64_t product = common ? size_of(mesh, *common) : 1;
    for (const AxisRef& x : left) {
      EXPECT_FALSE(overlap(mesh, x, b));
      EXPECT_TRUE(contains(mesh, a, x));
      product *= size_of(mesh, x);
    }
    EXPECT_EQ(product, size_of(mesh, a));
    if (common) left.push_back(*common);
    EXPECT_EQ(in_mesh_order(mesh, left), Axes{a}) << all.n;
  });
}

TEST(AxisAlgebra, MergedKeepsTheNumberOfBoth) {
  for_pairs([](const Digits& all, const AxisRef& a, const AxisRef& b) {
    SubAxis p = digit(mesh, a), q = digit(mesh, b);
    std::optional<AxisRef> expected;
    for (const AxisRef& c : all.all) {
      SubAxis r = digit(mesh, c);
      bool both = r.size == p.size * q.size;
      for (std::int64_t k = 0; k < all.n && both; ++k)
        both = value(k, all.n, r) == value(k, all.n, p) * q.size + value(k, all.n, q);
      if (both) expected = c;
    }
    EXPECT_EQ(merged(mesh, a, b), expected);
  });
}

std::int64_t number(const std::vector<std::int64_t>& position, const Axes& axes) {
  std::int64_t n = 0;
  for (const AxisRef& axis : axes) n = n * size_of(mesh, axis) + coordinate(mesh, position, axis);
  return n;
}

// Lists with nothing that overlaps, merged or not.
std::vector<Axes> lists() {
  return {{},
          {whole("y")},
          {part_of("y", 1, 2), part_of("y", 2, 6)},
          {part_of("y", 6, 2), whole("a"), part_of("y", 1, 3)},
          {whole("a"), part_of("w", 2, 4), part_of("p", 2, 3)},
          {whole("a"), whole("w")},
          {whole("a"), part_of("w", 1, 8), whole("y")},
          {part_of("w", 8, 2), part_of("w", 1, 8)},
          {whole("a"), whole("z"), whole("y")},
          {whole("p"), whole("a")},
          {part_of("p", 1, 2), part_of("p", 6, 5), part_of("p", 2, 3)}};
}

TEST(AxisLists, SplitAtASizeKeepsTheNumber) {
  for (const Axes& axes : lists())
    for (std::int64_t major_size = 1; major_size <= size_of(mesh, axes); ++major_size) {
      auto split = split_at(mesh, axes, major_size);
      if (!split) continue;
      EXPECT_EQ(size_of(mesh, split->major), major_size);
      EXPECT_EQ(size_of(mesh, split->major) * size_of(mesh, split->minor), size_of(mesh, axes));
      for (std::int64_t index = 0; index < device_count(mesh); index += 7) {
        auto position = position_of(mesh, index);
        EXPECT_EQ(number(position, axes),
                  number(position, split->major) * size_of(mesh, split->minor) + number(position, split->minor));
      }
    }
  EXPECT_EQ(split_at(mesh, {whole("y")}, 4), (SplitAxes{{part_of("y", 1, 4)}, {part_of("y", 4, 3)}}));
  EXPECT_EQ(split_at(mesh, {whole("y")}, 5), std::nullopt);
  EXPECT_EQ(split_at(mesh, {whole("a"), whole("y")}, 48), std::nullopt);
}

TEST(AxisLists, PrefixesAndSuffixes) {
  for (const Axes& a : lists())
    for (const Axes& b : lists()) {
      Axes prefix = common_prefix(mesh, merged(mesh, a), merged(mesh, b));
      for (const Axes& list : {merged(mesh, a), merged(mesh, b)}) {
        EXPECT_TRUE(is_prefix(mesh, prefix, list));
        EXPECT_EQ(joined(mesh, prefix, suffix_after(mesh, prefix, list)), list);
      }
      EXPECT_EQ(prefix, common_prefix(mesh, merged(mesh, b), merged(mesh, a)));
    }
  EXPECT_EQ(common_prefix(mesh, {whole("a"), part_of("y", 1, 2)}, {whole("a"), whole("y"), whole("w")}),
            (Axes{whole("a"), part_of("y", 1, 2)}));
  EXPECT_EQ(suffix_after(mesh, {part_of("y", 1, 2)}, {whole("y"), whole("a")}), (Axes{part_of("y", 2, 6), whole("a")}));
}

TEST(AxisLists, Difference) {
  EXPECT_EQ(without(mesh, Axes{whole("a"), whole("y")}, {part_of("y", 2, 3)}),
            (Axes{whole("a"), part_of("y", 1, 2), part_of("y", 6, 2)}));
  EXPECT_EQ(prefix_without(mesh, {whole("a"), whole("y"), whole("w")}, {part_of("y", 2, 3)}),
            (Axes{whole("a"), part_of("y", 1, 2)}));
  EXPECT_EQ(prefix_without(mesh, {whole("a"), whole("y")}, {whole("w")}), (Axes{whole("a"), whole("y")}));
  EXPECT_EQ(prefix_without(mesh, {whole("z"), whole("y")}, {whole("z")}), Axes{});
  EXPECT_FALSE(overlap(mesh, {whole("a"), part_of("y", 1, 2)}, {part_of("y", 2, 2)}));
  EXPECT_TRUE(overlap(mesh, {whole("a"), whole("y")}, {part_of("y", 2, 2)}));
}

TEST(AxisLists, MergedKeepsTheNumber) {
  for (const Axes& axes : lists()) {
    Axes fewer = merged(mesh, axes);
    for (std::int64_t index = 0; index < device_count(mesh); index += 5)
      EXPECT_EQ(number(position_of(mesh, index), axes), number(position_of(mesh, index), fewer));
    for (std::size_t k = 1; k < fewer.size(); ++k) EXPECT_EQ(merged(mesh, fewer[k - 1], fewer[k]), std::nullopt);
  }
}

TEST(Canonical, ReplicatedInMeshOrderAndMerged) {
  const Mesh xy{"xy", {{"x", 2}, {"y", 8}}, {}};
  auto y = [&](std::int64_t pre, std::int64_t size) { return part(xy, "y", pre, size); };
  const AxisRef x = full(xy, "x");
  Sharding sharding{MeshId(0), {{}}, {y(4, 2), x, y(1, 2)}, {}, ""};
  EXPECT_EQ(canonical(xy, sharding).replicated, (Axes{x, y(1, 2), y(4, 2)}));
  sharding = {MeshId(0), {{{y(1, 2), y(2, 4)}}}, {}, {}, ""};
  EXPECT_EQ(canonical(xy, sharding).dims[0].axes, Axes{full(xy, "y")});
  EXPECT_EQ(canonical(xy, canonical(xy, sharding)), canonical(xy, sharding));
}

}  // namespace
}  // namespace tap::ir
