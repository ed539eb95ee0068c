// A block graph of any bytes: the parser ends with one or with one message and its line; what it reads prints, parses back and
// is equal. The checker ends on all of them, taken for tasks of one program; what it accepts computes what the program does.
#include <algorithm>

#include "ir/block_program.h"
#include "ir/graph.h"
#include "ir/interpret/interpret_blocks.h"
#include "ir/text/stage_text.h"
#include "replay/replay.h"
#include "tests/fuzz/stage_program.h"

namespace {

using namespace tap;
using fuzz::require, fuzz::stage_program;

// y[i] = x[i - 1 else 0] + x[i]
bool add_left(const ir::Operator&, const std::vector<Tensor>& x, std::vector<Tensor>& y) {
  for (std::int64_t i = 0; i < x[0].size(); ++i)
    y[0].store_f64(i, (i > 0 ? x[0].load_f64(i - 1) : 0) + x[0].load_f64(i));
  return true;
}

void run(const std::vector<ir::BlockGraph>& blocks) {
  const ir::Program& program = stage_program();
  std::vector<Tensor> inputs;
  for (std::int64_t k = 0; k < 2; ++k) {
    inputs.emplace_back(ElementType::f64, Shape{6});
    for (std::int64_t i = 0; i < 6; ++i) inputs.back().store_f64(i, static_cast<double>(7 * k + i * i + 1));
  }
  auto expected = ir::interpret(program, program.main, inputs, {.kernel = add_left}).outputs;
  auto found = ir::interpret({program, blocks}, inputs, {.kernel = add_left}).outputs;
  require(expected.size() == found.size(), "what was accepted has other outputs");
  for (std::size_t k = 0; k < expected.size(); ++k)
    for (std::int64_t i = 0; i < expected[k].size(); ++i)
      require(expected[k].load_f64(i) == found[k].load_f64(i), "what was accepted computes something else");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto parsed = ir::parse_blocks({reinterpret_cast<const char*>(data), size});
  if (auto* error = std::get_if<ir::TextError>(&parsed)) {
    require(!error->message.empty(), "refused without a message");
    return 0;
  }
  const auto& blocks = std::get<std::vector<ir::BlockGraph>>(parsed);
  auto again = ir::parse_blocks(ir::print({stage_program(), blocks}));
  require(std::holds_alternative<std::vector<ir::BlockGraph>>(again), "what was printed does not parse");
  require(std::get<std::vector<ir::BlockGraph>>(again) == blocks, "printing changed the block graphs");
  check::Verdict verdict;
  check::check_expansion(stage_program(), blocks, "expand", verdict);
  require(!verdict.findings.empty(), "nothing is proved, and nothing refused");
  auto is_small = [](const ir::Held& held) {
    return count_of(held.row) < 100 &&
           std::ranges::all_of(held.box.dims, [](ir::Range r) { return r.lo > -100 && r.hi < 100; });
  };
  bool small = std::ranges::all_of(blocks, [&](auto& graph) { return std::ranges::all_of(graph.held, is_small); });
  if (!verdict.refused() && small) run(blocks);
  return 0;
}
