// Which batches several threads share: small tasks beside each other are no work for a second thread.
#include "backend/schedule/shared_batches.h"

#include <gtest/gtest.h>

namespace tap::backend {
namespace {

ir::ScheduledTask call_of(std::int64_t tiles, const ir::Row& row = {}) {
  ir::KernelCall call;
  call.tiles = tiles;
  call.row = row;
  return {call};
}

TEST(SharedBatches, AreWorthTwoCalls) {
  std::vector<Kernel> kernels(1);
  kernels[0].worth = 4;  // tiles
  const ir::Schedule schedule{.buffers = {{"large", ElementType::f32, ir::Box::of_shape({1 << 16})},
                                          {"small", ElementType::f32, ir::Box::of_shape({1 << 8})}}};
  auto pays = [&](const ir::Batch& batch) { return pays_to_share(batch, schedule, kernels); };
  EXPECT_TRUE(pays({call_of(8)}));
  EXPECT_FALSE(pays({call_of(7)}));
  EXPECT_FALSE(pays({call_of(3), call_of(3)}));
  EXPECT_TRUE(pays({call_of(3), call_of(3), call_of(3)}));
  EXPECT_TRUE(pays({call_of(1, {{.count = 8}})}));
  EXPECT_FALSE(pays({call_of(1, {{.count = 7}})}));
  EXPECT_TRUE(pays({{ir::Fill{{ir::BufferId(0)}, {}}}}));
  EXPECT_FALSE(pays({{ir::Fill{{ir::BufferId(1)}, {}}}}));
  EXPECT_TRUE(pays({{ir::CopyBox{{}, {}, ir::Box::of_shape({1 << 16})}}}));
  EXPECT_FALSE(pays({{ir::CopyBox{{}, {}, ir::Box::of_shape({1 << 15})}}}));
  EXPECT_TRUE(pays({{ir::OutsideCall{}}, call_of(1)}));  // it may take any time
}

// A column of a grid of 300 rows, a row of it, and a short column, beside what four parts compute.
TEST(SharedBatches, ColumnsBesideOthersAreShared) {
  Kernel rows;
  rows.operands = 0;
  rows.results = 1;
  rows.tensors.push_back({.name = "y", .type = {ElementType::f32, {300, 400}}});
  rows.tile_dim = 0;
  rows.near = {NearCells{.axis = 0}};
  Kernel column = rows, row = rows;
  column.worth = row.worth = 1000;
  row.near = {std::nullopt};
  auto writes = [](std::size_t kernel, std::int64_t parts, ir::Box box) {
    ir::KernelCall call;
    call.kernel = kernel;
    call.tiles = 20;
    call.box = std::move(box);
    call.buffers = {{ir::BufferId(0)}};
    return ir::Batch{{call, parts}};
  };
  const std::vector<Kernel> kernels{rows, column, row};
  const ir::Schedule schedule{.buffers = {{"y", ElementType::f32, ir::Box::of_shape({300, 400})}},
                              .sequences = {{writes(0, 4, {{{0, 300}, {1, 400}}}), writes(1, 1, {{{0, 300}, {0, 1}}}),
                                             writes(2, 1, {{{0, 300}, {0, 1}}}), writes(1, 1, {{{0, 50}, {0, 1}}})},
                                            {writes(1, 1, {{{0, 300}, {0, 1}}})}}};
  const ir::Schedule made = with_shared_columns(schedule, kernels);
  auto parts = [&](std::size_t sequence, std::size_t batch) { return made.sequences[sequence][batch][0].tiles; };
  EXPECT_EQ(parts(0, 0), 4);
  EXPECT_EQ(parts(0, 1), 4);
  EXPECT_TRUE(pays_to_share(made.sequences[0][1], made, kernels));
  EXPECT_EQ(parts(0, 2), 1) << "not known where it writes";
  EXPECT_EQ(parts(0, 3), 1) << "few lines";
  EXPECT_EQ(parts(1, 0), 1) << "nothing is shared beside it";
  EXPECT_FALSE(pays_to_share(made.sequences[1][0], made, kernels));
}

}  // namespace
}  // namespace tap::backend
