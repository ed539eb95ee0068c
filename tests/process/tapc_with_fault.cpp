// tapc with a fault of its own: a step claims what is not so, or leaves out a task. The linker puts what stands here in front of the
// checker's entries (--wrap), so that the fault reaches the checker as one of a pass would. TAP_FAULT_IN names the pass: one of those
// with a certificate, `expand` or `schedule`; several are separated by commas.
#include <cstdlib>
#include <string>

#include "check/check.h"
#include "compiler/driver/tapc.h"
#include "ir/graph.h"
#include "replay/replay.h"

namespace {

using namespace tap;

bool planted_in(const std::string& pass) {
  const char* names = std::getenv("TAP_FAULT_IN");
  return names && ("," + std::string(names) + ",").find("," + pass + ",") != std::string::npos;
}

// The last operation of the main graph is claimed to be the partials of what reduces nothing.
ir::Certificate with_fault(ir::Certificate certificate) {
  for (ir::Step& step : certificate.steps)
    if (planted_in(step.pass) && !step.graphs.empty() && !step.graphs[0].operations.empty())
      step.graphs[0].operations.back() = ir::PartialOf{{{}, ir::OperationId(0)}, 999, 0};
  return certificate;
}

}  // namespace

// The mangled names of the checker's entries, which the linker is given, too (tests/CMakeLists.txt).
#define CHECK_NAME "_ZN3tap5check5checkERKNS_2ir11CertificateERKSt6vectorINS0_11HashedStageESaIS6_EEPKNS1_7ProgramEbb"
#define EXPANSION_NAME                                                                              \
  "_ZN3tap5check15check_expansionERKNS_2ir7ProgramERKSt6vectorINS1_10BlockGraphESaIS6_EERKNSt7__cx" \
  "x1112basic_stringIcSt11char_traitsIcESaIcEEERNS0_7VerdictE"
#define SCHEDULE_NAME                                                                               \
  "_ZN3tap5check14check_scheduleERKNS_2ir7ProgramERKNS1_8ScheduleERKNSt7__cxx1112basic_stringIcSt1" \
  "1char_traitsIcESaIcEEERNS0_7VerdictE"

namespace tap::check {

Verdict real_check(const ir::Certificate&, const std::vector<HashedStage>&, const ir::Program* rules, bool is_legal,
                   bool runs) asm("__real_" CHECK_NAME);
Verdict wrapped_check(const ir::Certificate&, const std::vector<HashedStage>&, const ir::Program* rules, bool is_legal,
                      bool runs) asm("__wrap_" CHECK_NAME);
void real_expansion(const ir::Program&, const std::vector<ir::BlockGraph>&, const std::string&,
                    Verdict&) asm("__real_" EXPANSION_NAME);
void wrapped_expansion(const ir::Program&, const std::vector<ir::BlockGraph>&, const std::string&,
                       Verdict&) asm("__wrap_" EXPANSION_NAME);
void real_schedule(const ir::Program&, const ir::Schedule&, const std::string&, Verdict&) asm("__real_" SCHEDULE_NAME);
void wrapped_schedule(const ir::Program&, const ir::Schedule&, const std::string&,
                      Verdict&) asm("__wrap_" SCHEDULE_NAME);

Verdict wrapped_check(const ir::Certificate& certificate, const std::vector<HashedStage>& stages,
                      const ir::Program* rules, bool is_legal, bool runs) {
  return real_check(with_fault(certificate), stages, rules, is_legal, runs);
}

void wrapped_expansion(const ir::Program& program, const std::vector<ir::BlockGraph>& blocks, const std::string& where,
                       Verdict& verdict) {
  std::vector<ir::BlockGraph> given = blocks;
  for (ir::BlockGraph& graph : given)
    if (planted_in("expand") && !graph.tasks.empty()) graph.tasks.pop_back();
  real_expansion(program, given, where, verdict);
}

void wrapped_schedule(const ir::Program& program, const ir::Schedule& schedule, const std::string& where,
                      Verdict& verdict) {
  ir::Schedule given = schedule;
  if (planted_in("schedule")) given.sequences[0].pop_back();
  real_schedule(program, given, where, verdict);
}

}  // namespace tap::check

int main(int argc, char** argv) { return tap::driver::run_tapc(argc, argv); }
