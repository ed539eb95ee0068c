// A bug planted in ir's own `bounds`: an affine expression's last value is left out. The linker puts the one below in the
// place of ir's (--wrap), in this test alone; the passes that run here then believe it, and the checker must not.
#include <gtest/gtest.h>

#include "check/check.h"
#include "ir/graphs/program_hash.h"
#include "ir/interpret/interpret.h"
#include "passes/pass_manager.h"
#include "tests/frontend/compile_source.h"

namespace {
bool planted = false;
}

extern "C" {
tap::ir::Range __real__ZNK3tap2ir10AffineExpr6boundsERKNS0_3BoxE(const tap::ir::AffineExpr* e, const tap::ir::Box& box);
tap::ir::Range __wrap__ZNK3tap2ir10AffineExpr6boundsERKNS0_3BoxE(const tap::ir::AffineExpr* e,
                                                                 const tap::ir::Box& box) {
  tap::ir::Range values = __real__ZNK3tap2ir10AffineExpr6boundsERKNS0_3BoxE(e, box);
  if (planted && values.size() > 1) --values.hi;
  return values;
}
}

namespace tap::passes {
namespace {

using namespace ir;

struct Outcome {
  std::string refused_by;  // the first obligation that is
  bool same_values = false;
};

Outcome run_with(bool bug, const std::vector<const char*>& names, const std::string& text) {
  auto compiled = tap::test::compile_text(text);
  EXPECT_TRUE(compiled.compiled) << compiled.messages;
  const Program& program = compiled.compiled->program;
  std::vector<Pass> passes;
  for (const char* name : names) passes.push_back(*find_pass(name));
  std::vector<Program> programs{program};
  planted = bug;
  Passed passed = run(passes, program, {}, [&](const PassRun& one) {
    if (one.before != one.after) programs.push_back(one.after);
  });
  planted = false;
  std::vector<check::HashedStage> stages;
  for (const Program& p : programs) stages.push_back({&p, hash_of(p)});
  Outcome outcome;
  for (const check::Finding& f : check::check(passed.certificate, stages).findings)
    if (f.standing == check::Standing::refused && outcome.refused_by.empty())
      outcome.refused_by = check::name_of(f.obligation);
  Tensor x(ElementType::f32, {8});
  for (std::int64_t k = 0; k < 8; ++k) x.store_f64(k, static_cast<double>(k + 1));
  auto values = [&](const Program& p) {
    Tensor y = interpret(p, p.main, {x}).outputs[0];
    std::vector<double> all;
    for (std::int64_t k = 0; k < 8; ++k) all.push_back(y.load_f64(k));
    return all;
  };
  try {
    outcome.same_values = values(program) == values(passed.program);
  } catch (const std::exception&) {}  // it reads what is not there
  return outcome;
}

void expect_caught(const std::vector<const char*>& passes, const std::string& text, const std::string& by) {
  Outcome right = run_with(false, passes, text), wrong = run_with(true, passes, text);
  EXPECT_EQ(right.refused_by, "");
  EXPECT_TRUE(right.same_values);
  EXPECT_EQ(wrong.refused_by, by);
  EXPECT_FALSE(wrong.same_values) << "the bug does no harm here: the test shows nothing";
}

// i + 1 is taken to stay below 8, and the guard of the fill for needless.
TEST(WrongBounds, OmittedGuard) {
  expect_caught({"compose_maps"},
                "program p(x: f32[8]) -> (y: f32[8]) {\n  h[i] = x[i] * 3 for i in 0..8\n"
                "  y[i] = h[i + 1 else 7] + 1 for i in 0..8\n}\n",
                "composition");
}

// i is taken to stay below 7, and i / 7 to be 0.
TEST(WrongBounds, QuotientFoldedToAConstant) {
  expect_caught({"simplify_cells"},
                "program p(x: f32[8]) -> (y: f32[8]) {\n  y[i] = x[i] + f32(i / 7) for i in 0..8\n}\n", "axioms");
}

}  // namespace
}  // namespace tap::passes
