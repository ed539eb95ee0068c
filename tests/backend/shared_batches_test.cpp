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

}  // namespace
}  // namespace tap::backend
