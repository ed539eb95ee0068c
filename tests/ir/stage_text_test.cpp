// The text forms of block graphs and schedules: print and parse as inverses, and what is said of texts that are none.
#include "ir/text/stage_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "ir/block_program.h"
#include "tests/ir/random_program.h"

namespace tap::ir {
namespace {

using samples::chance, samples::pick, samples::random_integer, samples::random_name, samples::random_range,
    samples::several;

template <class Id>
Id any_id() {
  return Id(static_cast<std::size_t>(pick(0, 40)));
}
std::size_t any_index() { return static_cast<std::size_t>(pick(0, 40)); }
std::int64_t any_device() { return chance() ? everywhere : random_integer(); }
Box random_box() { return {several<Range>(random_range)}; }
template <class Id>
std::vector<Id> random_ids() {
  return several<Id>(any_id<Id>);
}

template <class Id>
Member<Id> any_member() {
  return {any_id<Id>(), chance() ? 0 : random_integer()};
}
template <class Id>
std::vector<Member<Id>> random_members() {
  return several<Member<Id>>(any_member<Id>);
}

Row random_row() {
  return several<Level>([] { return Level{random_integer(), several<std::int64_t>(random_integer)}; });
}

Task random_task() {
  if (chance())
    return Move{any_id<OperationId>(), any_member<HeldId>(), any_member<HeldId>(), random_box(), random_row()};
  return Application{any_id<OperationId>(),    any_device(), random_box(), random_members<HeldId>(),
                     random_members<HeldId>(), random_row()};
}
std::vector<BlockGraph> random_blocks() {
  std::vector<BlockGraph> graphs = several<BlockGraph>([] {
    BlockGraph graph;
    graph.held = several<Held>([] { return Held{any_id<ValueId>(), any_device(), random_box(), random_row()}; });
    graph.tasks = several<Task>(random_task);
    graph.inputs = random_ids<HeldId>();
    graph.outputs = several<std::vector<HeldId>>(random_ids<HeldId>);
    if (chance()) graph.devices = several<std::int64_t>(random_integer);
    return graph;
  });
  for (std::size_t g = 0; g < graphs.size(); ++g) graphs[g].graph = GraphId(g);
  return graphs;
}

ScheduledTask random_scheduled_task() {
  ScheduledTask task{{}, random_integer()};
  switch (pick(0, 5)) {
    case 0:
      task.what =
          KernelCall{any_index(),
                     random_integer(),
                     any_index(),
                     random_box(),
                     several<Counter>([] {
                       return Counter{static_cast<std::uint32_t>(any_index()), static_cast<std::uint32_t>(any_index())};
                     }),
                     random_members<BufferId>(),
                     random_row()};
      break;
    case 1: task.what = CopyBox{any_member<BufferId>(), any_member<BufferId>(), random_box(), random_row()}; break;
    case 2:
      task.what = Fill{any_member<BufferId>(), samples::random_scalar(samples::random_type()), random_row()};
      break;
    case 3:
      task.what = OutsideCall{
          any_index(), any_index(), random_box(), several<std::int64_t>(random_integer), random_members<BufferId>(),
          random_row()};
      break;
    default:
      task.what = Iteration{
          random_range(), any_index(), any_index(), several<ExchangedState>([] {
            return ExchangedState{static_cast<std::uint32_t>(any_index()), any_id<BufferId>(), any_id<BufferId>()};
          })};
  }
  return task;
}
Schedule random_schedule() {
  Schedule s;
  auto tensor = [] { return ProgramTensor{random_name(), samples::random_tensor_type(), chance()}; };
  s.inputs = several<ProgramTensor>(tensor);
  s.outputs = several<ProgramTensor>(tensor);
  s.buffers = several<Buffer>([] {
    return Buffer{random_name(),    samples::random_type(),
                  random_box(),     static_cast<MemorySpace>(pick(0, 4)),
                  random_integer(), random_row()};
  });
  s.sequences =
      several<Sequence>([] { return several<Batch>([] { return several<ScheduledTask>(random_scheduled_task); }); });
  s.operations = several<ScheduledOperation>([] {
    ScheduledOperation o{random_name(), random_name(), {}, {}, {}};
    o.dims = several<ScheduledOperation::Dim>([] { return ScheduledOperation::Dim{random_name(), chance()}; });
    o.operands = several<std::pair<std::string, Shape>>(
        [] { return std::pair(random_name(), Shape(several<std::int64_t>(random_integer))); });
    o.what.path =
        several<PathStep>([] { return PathStep(any_id<OperationId>(), static_cast<std::uint32_t>(pick(0, 3))); });
    o.what.operation = any_id<OperationId>();
    return o;
  });
  s.outside = several<std::string>(random_name);
  s.kernels = several<ScheduledKernel>([] {
    ScheduledKernel k{any_id<OperatorId>()};
    if (chance()) k.packs = static_cast<std::uint32_t>(any_index());
    k.any_box = chance();
    if (chance()) k.tile_dim = static_cast<std::uint32_t>(any_index()), k.grain = random_integer();
    return k;
  });
  s.kernel_of = several<std::optional<std::size_t>>([] { return samples::maybe(any_index); });
  s.prepared.resize(s.kernel_of.size());
  for (auto& list : s.prepared)
    list = several<Preparation>([] {
      Preparation p{static_cast<std::uint32_t>(any_index()), any_index(), samples::random_tensor_type()};
      p.dims = several<std::uint32_t>([] { return static_cast<std::uint32_t>(any_index()); });
      if (!p.dims.empty()) p.along = p.dims[0], p.step = random_integer();
      return p;
    });
  s.preparation = samples::maybe(any_index);
  s.arena_bytes = random_integer();
  s.prepared_bytes = random_integer();
  return s;
}

std::string first_error(const auto& result) {
  auto* error = std::get_if<TextError>(&result);
  return error ? "line " + std::to_string(error->line) + ": " + error->message : "no error";
}

RC_GTEST_PROP(BlockText, RoundTrips, ()) {
  BlockProgram blocks{{}, random_blocks()};
  blocks.program.graphs.resize(blocks.graphs.size());
  std::string text = print(blocks);
  auto result = parse_blocks(text);
  if (std::holds_alternative<TextError>(result)) RC_FAIL(first_error(result) + "\n" + text);
  RC_ASSERT(std::get<std::vector<BlockGraph>>(result) == blocks.graphs);
  RC_ASSERT(std::get<StageValue>(parse_stage(text)).index() == static_cast<std::size_t>(StageKind::blocks));
}

RC_GTEST_PROP(ScheduleText, RoundTrips, ()) {
  Schedule schedule = random_schedule();
  std::string text = print(schedule);
  auto result = parse_schedule(text);
  if (std::holds_alternative<TextError>(result)) RC_FAIL(first_error(result) + "\n" + text);
  for (Buffer& buffer : schedule.buffers) buffer.name.clear();  // which are comments
  RC_ASSERT(std::get<Schedule>(result) == schedule);
  RC_ASSERT(std::get<StageValue>(parse_stage(text)).index() == static_cast<std::size_t>(StageKind::schedule));
}

RC_GTEST_PROP(StageText, SurvivesMutations, ()) {
  std::string text = chance() ? print(BlockProgram{{}, {}}) + "graph 0\n  held 0 value 0 [0..1] device 2\n"
                              : print(random_schedule());
  for (std::size_t k = samples::count(4) + 1; k > 0; --k)
    text[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(text.size())))] = static_cast<char>(pick(0, 128));
  parse_blocks(text);
  parse_schedule(text);
}

TEST(StageText, ParseErrors) {
  EXPECT_EQ(first_error(parse_blocks("tap-blocks 2\n")), "line 1: the version of the text must be 1");
  EXPECT_EQ(first_error(parse_blocks("")), "line 0: the text is empty");
  EXPECT_EQ(first_error(parse_blocks("tap-blocks 1\nheld 0 value 0 []\n")), "line 2: `held` before the first graph");
  EXPECT_EQ(first_error(parse_blocks("tap-blocks 1\ngraph 0\n  run 1\n")),
            "line 3: `run` does not begin a line of a block graph");
  EXPECT_EQ(first_error(parse_schedule("tap-schedule 3\nb1 f32 [] arena 0\n")), "line 2: found b1, expected b0");
  EXPECT_EQ(first_error(parse_schedule("tap-schedule 3\nsequence 0\nbatch\n  walk b0\n")),
            "line 4: `walk` is not a task");
  EXPECT_EQ(first_error(parse_schedule("tap-schedule 3\nkernels 2, arena 0 bytes, prepared 0 bytes\n"
                                       "kernel 0 of 3\n")),
            "line 0: 2 kernels, but 1 lines that describe them");
}

}  // namespace
}  // namespace tap::ir
