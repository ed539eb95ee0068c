// Random programs mean the same after every list of passes, bit by bit on the interpreter; and the independent checker
// finds every claim of every pass justified.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "check/check.h"
#include "ir/graphs/program_hash.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "tests/frontend/compile_source.h"
#include "tests/passes/random_program.h"

namespace tap::passes {
namespace {

using namespace tap::ir;

std::vector<std::uint64_t> bits_of(const Tensor& t) {
  std::vector<std::uint64_t> bits;
  for (std::int64_t k = 0; k < t.size(); ++k) {
    if (!is_float(t.type())) bits.push_back(static_cast<std::uint64_t>(t.load_i64(k)));
    else bits.push_back(std::isnan(t.load_f64(k)) ? 1 : std::bit_cast<std::uint64_t>(t.load_f64(k)));
  }
  return bits;
}

std::vector<std::vector<std::uint64_t>> run_bits(const Program& program) {
  const Graph& main = program[program.main];
  std::vector<Tensor> inputs;
  std::int64_t seed = 1;
  for (ValueId v : main.inputs) {
    Tensor t(main[v].type.element, main[v].type.shape);
    for (std::int64_t k = 0; k < t.size(); ++k) {
      seed = (seed * 48271) % 2147483647;
      if (is_float(t.type())) t.store_f64(k, static_cast<double>(seed % 8 - 2));
      else t.store_i64(k, seed % 8 - 2);
    }
    inputs.push_back(std::move(t));
  }
  std::vector<std::vector<std::uint64_t>> all;
  for (const Tensor& t : interpret(program, program.main, inputs).outputs) all.push_back(bits_of(t));
  return all;
}

// Why a certificate is refused; empty if it is not.
std::string refusal_of(const Certificate& certificate, const std::vector<Program>& programs) {
  std::vector<check::HashedStage> stages;
  for (const Program& program : programs) stages.push_back({&program, hash_of(program)});
  std::string text;
  for (const check::Finding& finding : check::check(certificate, stages).findings)
    if (finding.standing == check::Standing::refused)
      text += finding.where + ": " + std::string(check::name_of(finding.obligation)) + ": " + finding.detail + "\n";
  return text;
}

const std::vector<std::vector<const char*>> lists = {
    {},  // the lowering
    {"inline_calls", "compose_maps"},
    {"inline_calls", "simplify_cells"},
    {"inline_calls", "compose_maps", "simplify_cells", "compose_maps"},
    {"inline_calls", "fuse_auto"},
    {"simplify_cells", "share_equal_operations", "inline_calls", "remove_dead_code"}};

std::vector<Pass> passes_of(const std::vector<const char*>& names) {
  if (names.empty()) return {lowering().begin(), lowering().end()};
  std::vector<Pass> passes;
  for (const char* name : names) passes.push_back(*find_pass(name));
  return passes;
}

Program random_program() {
  const std::vector<std::string> types = {"i64", "f64", "f32", "i32", "f16", "bf16", "i8"};
  std::string type = *rc::gen::elementOf(types);
  std::string text = test::RandomProgram(type).make();
  RC_LOG() << text;
  tap::test::Outcome outcome = tap::test::compile_text(text);
  if (!outcome.compiled) RC_LOG() << outcome.messages;
  RC_ASSERT(outcome.compiled.has_value());
  return outcome.compiled->program;
}

RC_GTEST_PROP(RandomProgram, EveryPassListPreservesResults, ()) {
  Program program = random_program();
  auto expected = run_bits(program);
  for (const auto& names : lists) {
    Passed passed = run(passes_of(names), program);
    if (run_bits(passed.program) == expected) continue;
    RC_LOG() << print(passed.program);
    RC_FAIL("another result");
  }
}

// Why a claim of one of the lists of passes is refused.
std::string refusal_of(const Program& program) {
  for (const auto& names : lists) {
    std::vector<Program> stages{program};
    Passed passed = run(passes_of(names), program, {}, [&](const PassRun& run) {
      if (run.before != run.after) stages.push_back(run.after);
    });
    if (std::string refusal = refusal_of(passed.certificate, stages); !refusal.empty()) return refusal;
  }
  return "";
}

RC_GTEST_PROP(RandomProgram, EveryClaimIsJustified, ()) {
  std::string refusal = refusal_of(random_program());
  if (!refusal.empty()) RC_LOG() << refusal;
  RC_ASSERT(refusal.empty());
}

// v3 requests v1[t] and v1[4 - t]: neither writer of v1 goes there for every t, and both stay inside v0[0..3].
TEST(RandomProgram, CellsBeyondAWriterAreNotRequested) {
  tap::test::Outcome outcome = tap::test::compile_text(R"(
program p(x: f64[5]) -> (v3: f64[5]) {
    v0[i] = sum[t in 0..5] (if i64(x[t]) == i then x[t] else 0) for i in 0..5
    v1[i] = v0[i] for i in 0..2
    v1[i + 2] = v0[i] for i in 0..3
    v2[i] = v1[4 - i] for i in 0..5
    v3[i] = sum[t in 0..5] (if i64(v2[t]) == i then v1[t] else 0) for i in 0..5
})");
  ASSERT_TRUE(outcome.compiled.has_value()) << outcome.messages;
  EXPECT_EQ(refusal_of(outcome.compiled->program), "");
}

}  // namespace
}  // namespace tap::passes
