// A plan of any bytes: the parser ends with a plan or with one message inside of the text; what it reads prints, parses back
// and is equal, and every part of a decision lies in its line.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ir/text/plan_text.h"
#include "tests/ir/parse_plan.h"

namespace {

using namespace tap::ir;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = parse_plan_text(text);
  if (auto* error = std::get_if<PlanMistake>(&parsed)) {
    require(!error->message.empty(), "refused without a message");
    require(error->line >= 1 && error->column <= size, "a place outside of the text");
    return 0;
  }
  const PlanText& plan = std::get<PlanText>(parsed);
  require(plan.parts.size() == plan.plan.decisions.size(), "a decision without its places");
  for (const auto& parts : plan.parts)
    for (const TextPart& part : parts) {
      require(part.begin <= part.end && part.end <= size, "a part outside of the text");
      require(parts[0].begin <= part.begin && part.end <= parts[0].end, "a part outside of its decision");
      require(text.substr(part.begin, part.end - part.begin).find('\n') == text.npos, "a part over several lines");
    }
  auto again = parse_plan(print(plan.plan));
  require(std::holds_alternative<Plan>(again), "what was printed does not parse");
  require(std::get<Plan>(again) == plan.plan, "printing changed the plan");
  return 0;
}
