// A schedule of any bytes: the parser ends with one or with one message and its line; what it reads prints, parses back and is
// equal. The checker ends on all of them, taken for the tasks of one program.
#include "ir/block_program.h"
#include "ir/text/stage_text.h"
#include "replay/replay.h"
#include "tests/fuzz/stage_program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tap;
  using fuzz::require;
  auto parsed = ir::parse_schedule({reinterpret_cast<const char*>(data), size});
  if (auto* error = std::get_if<ir::TextError>(&parsed)) {
    require(!error->message.empty(), "refused without a message");
    return 0;
  }
  const auto& schedule = std::get<ir::Schedule>(parsed);
  auto again = ir::parse_schedule(ir::print(schedule));
  require(std::holds_alternative<ir::Schedule>(again), "what was printed does not parse");
  require(std::get<ir::Schedule>(again) == schedule, "printing changed the schedule");
  check::Verdict verdict;
  check::check_schedule(fuzz::stage_program(), schedule, "schedule", verdict);
  require(!verdict.findings.empty(), "nothing is proved, and nothing refused");
  return 0;
}
