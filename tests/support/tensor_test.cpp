#include "support/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/checked.h"

namespace tap {
namespace {

constexpr std::int64_t big = std::int64_t{1} << 62;

TEST(Shape, CountsAndStrides) {
  EXPECT_EQ(to_string(Shape{2, 3}), "[2, 3]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({1, 0, big}), 0);
  EXPECT_EQ(row_major_strides({2, 3, 4}), (std::vector<std::int64_t>{12, 4, 1}));
  EXPECT_EQ(row_major_strides({2, 0, 4}), (std::vector<std::int64_t>{4, 4, 1}));
  EXPECT_THROW(element_count({big, 2}), Overflow);
  EXPECT_THROW(element_count({0, big, big}), Overflow);  // its strides would not fit
}

TEST(Tensor, IsZeroAndAligned) {
  for (std::size_t i = 0; i < element_type_count; ++i) {
    Tensor t(static_cast<ElementType>(i), {3, 5});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.data()) % 64, 0u);
    for (int at = 0; at < 15; ++at) EXPECT_EQ(t.load_f64(at), 0.0);
  }
  EXPECT_NE(Tensor(ElementType::f32, {0}).data(), nullptr);
  EXPECT_EQ(Tensor(ElementType::f32, {}).size(), 1);
  EXPECT_THROW(Tensor(ElementType::f64, {big}), Overflow);
  EXPECT_THROW(Tensor(ElementType::i8, {big}), std::bad_alloc);
}

TEST(Tensor, CopyDoesNotSeeLaterWrites) {
  Tensor a(ElementType::i32, {2});
  a.store_i64(0, 7);
  Tensor b = a;
  a.store_i64(0, 8);
  EXPECT_EQ(b.load_i64(0), 7);
  EXPECT_EQ(a.load_i64(0), 8);
}

TEST(Tensor, SharedBytesAreCopiedBeforeTheFirstWrite) {
  static const std::int16_t theirs[2] = {1, 2};
  std::shared_ptr<const std::byte> bytes(reinterpret_cast<const std::byte*>(theirs), [](const std::byte*) {});
  Tensor t(ElementType::i16, {2}, bytes);
  EXPECT_EQ(t.data(), bytes.get());
  t.store_i64(1, 9);
  EXPECT_EQ(t.load_i64(0), 1);
  EXPECT_EQ(t.load_i64(1), 9);
  EXPECT_EQ(theirs[1], 2);
}

TEST(Tensor, StoresRoundWrapOrSaturate) {
  Tensor half(ElementType::f16, {1}), brain(ElementType::bf16, {1}), byte(ElementType::u8, {1}),
      single(ElementType::f32, {1});
  half.store_f64(0, 2049);
  EXPECT_EQ(half.load_f64(0), 2048);
  byte.store_i64(0, -1);
  EXPECT_EQ(byte.load_i64(0), 255);
  byte.store_f64(0, 255.9);
  EXPECT_EQ(byte.load_i64(0), 255);
  byte.store_f64(0, -3.5);
  EXPECT_EQ(byte.load_i64(0), 0);
  byte.store_f64(0, std::nan(""));
  EXPECT_EQ(byte.load_i64(0), 0);
  // 257 · 2^50 + 1 is just above a tie of bf16, which a detour through f64 would lose (1 is below its last bit).
  brain.store_i64(0, (std::int64_t{257} << 50) + 1);
  EXPECT_EQ(brain.load_f64(0), std::ldexp(258.0, 50));
  single.store_i64(0, (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1);
  EXPECT_EQ(single.load_f64(0), std::ldexp(1.0, 60) + std::ldexp(1.0, 37));
  Tensor whole(ElementType::i64, {1});
  whole.store_f64(0, 1e30);
  EXPECT_EQ(whole.load_i64(0), std::numeric_limits<std::int64_t>::max());
  whole.store_f64(0, -std::ldexp(1.0, 63));
  EXPECT_EQ(whole.load_i64(0), std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace tap
