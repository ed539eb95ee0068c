// Every kind of change, many times, with the hashes recomputed: what changes the result is refused by an obligation named
// for that kind, what is harmless is accepted. What the checker accepts of the former must have the same result after all:
// the interpreter says so.
#include <gtest/gtest.h>

#include <map>

#include "ir/block_graph.h"
#include "ir/graph.h"
#include "ir/interpret/interpret.h"
#include "tests/check/mutations.h"
#include "tests/check/tries.h"

namespace tap::check {
namespace {

using namespace cases;

const int tries = times_tries(24);  // of each kind, on each case

// The kernel of partials_of_a_kernel: the composition of v -> x v + x over each block of k, into both columns.
bool outside(const Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t d = 2; d < op.dims.size(); ++d) numbers.push_back(d);
  const std::int64_t blocks = numbers.empty() ? 1 : op.dims[2].range.hi;
  for (const Box& box : application_boxes(op, numbers, op.box()))
    for (std::int64_t i = box.dims[0].lo; i < box.dims[0].hi; ++i) {
      std::int64_t a = 1, b = 0;
      for (std::int64_t k = box.dims[1].lo; k < box.dims[1].hi; ++k) {
        const std::int64_t x = operands[0].load_i64(6 * i + k);
        a *= x, b = b * x + x;
      }
      for (std::int64_t c = 0; c < 2; ++c) {
        const std::int64_t at = (2 * i + c) * blocks + (numbers.empty() ? 0 : box.dims[2].lo);
        results[0].store_i64(at, a);
        results[1].store_i64(at, b);
      }
    }
  return true;
}

std::vector<std::vector<double>> result_of(const Program& program) {
  std::vector<Tensor> inputs;
  std::mt19937 random(7);
  for (ValueId v : program[program.main].inputs) {
    Tensor t(program[program.main][v].type.element, program[program.main][v].type.shape);
    for (std::int64_t k = 0; k < t.size(); ++k) t.store_i64(k, static_cast<std::int64_t>(random() % 19) - 9);
    inputs.push_back(std::move(t));
  }
  std::vector<std::vector<double>> all;
  for (const Tensor& t : interpret(program, program.main, inputs, {.kernel = outside}).outputs)
    all.push_back(values_of(t));
  return all;
}

TEST(Mutation, CasesPreserveResults) {
  for (const Case& c : cases::all()) EXPECT_EQ(result_of(c.before), result_of(c.after)) << c.name;
}

TEST(Mutation, MutantsThatChangeResultsAreRefusedByTheirObligation) {
  std::mt19937 random(20261121);
  const std::vector<Case> all = cases::all();
  std::size_t refused = 0, kinds_seen = 0, harmless = 0, accepted = 0;
  for (const Kind& kind : cases::kinds()) {
    std::size_t mutants = 0;
    for (const Case& c : all)
      for (int t = 0; t < tries; ++t) {
        Mutant m{c, random};
        if (!kind.change(m)) continue;
        Verdict verdict = verdict_of(m.of);
        std::string by = first_refusal(verdict);
        if (kind.objects.empty()) {
          ++harmless;
          accepted += by.empty();
          EXPECT_EQ(by, "") << kind.name << " of " << c.name << ": " << refusals(verdict);
          continue;
        }
        if (by.empty()) {
          EXPECT_EQ(result_of(m.of.after), result_of(c.before)) << kind.name << " of " << c.name << " is accepted";
          continue;
        }
        ++mutants;
        EXPECT_NE(std::find(kind.objects.begin(), kind.objects.end(), by), kind.objects.end())
            << kind.name << " of " << c.name << " is refused by " << refusals(verdict);
      }
    if (kind.objects.empty()) continue;
    EXPECT_GT(mutants, 0u) << "no mutant of the kind: " << kind.name;
    refused += mutants;
    ++kinds_seen;
  }
  EXPECT_GE(kinds_seen, 40u);
  EXPECT_GE(refused, 400u);
  EXPECT_GE(static_cast<double>(accepted), 0.95 * static_cast<double>(harmless));
  RecordProperty("kinds", static_cast<int>(kinds_seen));
  RecordProperty("refused", static_cast<int>(refused));
  RecordProperty("harmless", static_cast<int>(harmless));
}

// Two changes at once may hide each other from a check that looks at one thing at a time: whoever is accepted computes the same.
TEST(Mutation, AcceptedDoubleMutantsPreserveResults) {
  std::mt19937 random(20261123);
  std::size_t refused = 0, accepted = 0;
  const std::vector<Kind>& kinds = cases::kinds();
  for (const Case& c : cases::all())
    for (int t = 0; t < 10 * tries; ++t) {
      Mutant m{c, random};
      const Kind &one = kinds[m.any(kinds.size())], &other = kinds[m.any(kinds.size())];
      if (!one.change(m) || !other.change(m)) continue;
      const bool valid = first_refusal(verdict_of(m.of)).empty();
      ++(valid ? accepted : refused);
      if (valid) {
        EXPECT_EQ(result_of(m.of.after), result_of(c.before)) << one.name << " and " << other.name << " of " << c.name;
      }
    }
  EXPECT_GE(refused, 400u);
  std::printf("%zu mutants of two changes refused, %zu accepted\n", refused, accepted);
}

}  // namespace
}  // namespace tap::check
