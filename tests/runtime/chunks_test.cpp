// Row H08: messages of more bytes than an int counts.
#include "runtime/mpi/chunks.h"

#include <gtest/gtest.h>

#include <climits>
#include <utility>
#include <vector>

namespace {

using Chunks = std::vector<std::pair<int64_t, int>>;

int32_t note(void* chunks, int64_t at, int bytes) {
  static_cast<Chunks*>(chunks)->emplace_back(at, bytes);
  return 0;
}
Chunks chunks_of(int64_t bytes, int64_t most) {
  Chunks chunks;
  EXPECT_EQ(tap_each_chunk(bytes, most, note, &chunks), 0);
  return chunks;
}

TEST(Chunks, CoverAMessageInOrder) {
  EXPECT_EQ(chunks_of(0, 4), (Chunks{}));
  EXPECT_EQ(chunks_of(3, 4), (Chunks{{0, 3}}));
  EXPECT_EQ(chunks_of(4, 4), (Chunks{{0, 4}}));
  EXPECT_EQ(chunks_of(5, 4), (Chunks{{0, 4}, {4, 1}}));
  EXPECT_EQ(chunks_of(12, 4), (Chunks{{0, 4}, {4, 4}, {8, 4}}));
}

TEST(Chunks, BeyondWhatAnIntCounts) {
  const int64_t most = int64_t{1} << 30;
  EXPECT_EQ(chunks_of(int64_t{INT_MAX}, most).size(), 2u);
  EXPECT_EQ(chunks_of(3 * most + 5, most), (Chunks{{0, 1 << 30}, {most, 1 << 30}, {2 * most, 1 << 30}, {3 * most, 5}}));
}

TEST(Chunks, StopAtAFailure) {
  int calls = 0;
  auto fail = [](void* self, int64_t at, int) -> int32_t {
    ++*static_cast<int*>(self);
    return at == 4 ? 7 : 0;
  };
  EXPECT_EQ(tap_each_chunk(12, 4, fail, &calls), 7);
  EXPECT_EQ(calls, 2);
}

}  // namespace
