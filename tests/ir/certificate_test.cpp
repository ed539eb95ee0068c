// The text form of certificates: print and parse as inverses, and what is said of texts that are none.
#include "ir/text/certificate_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "ir/graphs/program_hash.h"
#include "tests/ir/random_program.h"

namespace tap::ir {
namespace {

using samples::chance, samples::count, samples::pick, samples::random_integer, samples::random_name, samples::several;

std::uint32_t any_number() { return static_cast<std::uint32_t>(pick(0, 40)); }
OperationId any_operation() { return OperationId(any_number()); }
Path random_path() {
  return several<PathStep>([] { return PathStep(any_operation(), any_number()); }, 3);
}
OperationRef random_operation() { return {random_path(), any_operation()}; }
ValueRef random_value() {
  ValueRef ref{random_path(), ValueId(any_number()), {}};
  if (chance()) ref.step = random_integer();
  return ref;
}
std::vector<OperationRef> random_operations() { return several<OperationRef>(random_operation); }
ComposedRead random_read(int depth) {
  ComposedRead read{any_number(), random_operation(), {}};
  if (depth > 0) read.reads = several<ComposedRead>([depth] { return random_read(depth - 1); }, 3);
  return read;
}
Simplified random_simplified() {
  Simplified s{random_operation(), samples::random_cells({4, 4, 0, 0}), {}};
  s.uses = several<AxiomUse>([&] {
    return AxiomUse{random_name(), several<CellId>([&] { return samples::pick_id<CellId>(s.terms.size()); })};
  });
  return s;
}

Justification random_justification() {
  OperationRef of = random_operation();
  switch (pick(0, 21)) {
    case 0: return Copied{of};
    case 1: return random_simplified();
    case 2: return Composed{of, several<ComposedRead>([] { return random_read(2); })};
    case 3: return BlockedFrom{of};
    case 4: return PartialOf{of, any_number(), any_number()};
    case 5: return CombinationOf{of, any_operation()};
    case 6: return LocalScanOf{of};
    case 7: return TotalsOf{of};
    case 8: return CarryOf{of, any_operation()};
    case 9: return CarriedScanOf{of, any_operation(), any_operation()};
    case 10: return GroupOf{random_operations()};
    case 11: return OfferedFor{random_operations()};
    case 12: return TripOf{of, random_integer()};
    case 13: return TransferOf{};
    case 14: return PointOf{of};
    case 15: return StagedOf{of};
    case 16: return PlacedFrom{of, any_operation()};
    case 17: return ProductOf{of, several<std::uint32_t>(any_number)};
    case 18: return Reordered{of, several<std::uint32_t>(any_number)};
    case 19: return WholeCopy{};
    default: return FoldOf{of, any_number(), random_integer()};
  }
}

GraphClaim random_claim() {
  GraphClaim claim{GraphId(any_number()), GraphId(any_number()), {}, {}, {}};
  claim.values = several<std::optional<ValueRef>>([] { return samples::maybe(random_value); });
  claim.operations = several<Justification>(random_justification, 6);
  claim.equal = several<EqualOperations>([] { return EqualOperations{random_operation(), random_operation()}; });
  claim.copies = random_operations();
  if (chance()) claim.steps = random_integer(), claim.first = random_integer();
  return claim;
}

RuleUse random_rule() {
  return {any_number(), several<std::uint32_t>(any_number), several<std::uint32_t>(any_number), random_claim()};
}

Certificate random_certificate() {
  return {several<Step>([] {
    Step step{random_name(), random_name(), random_name(), {}};
    step.graphs = several<GraphClaim>(random_claim);
    step.alternatives = several<AlternativeClaim>(
        [] {
          return AlternativeClaim{random_claim(), samples::maybe(random_rule)};
        },
        3);
    step.made = static_cast<StageKind>(pick(0, 3));
    return step;
  })};
}

std::string message_of(std::string_view text) {
  auto result = parse_certificate(text);
  auto* error = std::get_if<TextError>(&result);
  return error ? "line " + std::to_string(error->line) + ": " + error->message : "no error";
}

RC_GTEST_PROP(CertificateText, RoundTrips, ()) {
  Certificate certificate = random_certificate();
  std::string text = print(certificate);
  auto result = parse_certificate(text);
  if (auto* error = std::get_if<TextError>(&result))
    RC_FAIL("line " + std::to_string(error->line) + ": " + error->message + "\n" + text);
  RC_ASSERT(std::get<Certificate>(result) == certificate);
}

RC_GTEST_PROP(CertificateText, PrefixesAreRejected, ()) {
  std::string text = print(random_certificate());
  auto length = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(text.size()) - 1));
  RC_ASSERT(std::holds_alternative<TextError>(parse_certificate(text.substr(0, length))));
}

RC_GTEST_PROP(CertificateText, SurvivesMutations, ()) {
  std::string text = print(random_certificate());
  for (std::size_t k = count(4) + 1; k > 0; --k)
    text[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(text.size())))] = static_cast<char>(pick(0, 128));
  parse_certificate(text);
}

TEST(CertificateText, ParseErrors) {
  EXPECT_EQ(message_of("tap-certificate 3\nend\n"),
            "line 1: the certificate has version 3; the supported version is 2");
  EXPECT_EQ(message_of("tap-certificate 2\nstep fuse\n"),
            "line 2: the certificate is truncated: its last line must be `end`");
  EXPECT_EQ(message_of("tap-certificate 2\nstep fuse\n  graph 0 of 0\n    value 1 is 0\nend\n"),
            "line 4: found number 1, expected 0");
  EXPECT_EQ(message_of("tap-certificate 2\nstep fuse\n  graph 0 of 0\n    operation 0 believed 1\nend\n"),
            "line 4: `believed` is not a justification");
  EXPECT_EQ(message_of("tap-certificate 2\nend\nend\n"), "line 3: unexpected text after `end`");
}

TEST(ProgramHash, IsTheHashOfTheText) {
  Program program = samples::matmul_relu();
  EXPECT_EQ(hash_of(program), hash_of_text(print(program)));
  EXPECT_EQ(hash_of(program).size(), 32u);
  program.graphs[0].values[0].name = "Q";
  EXPECT_NE(hash_of(program), hash_of(samples::matmul_relu()));
  EXPECT_EQ(hash_of_text(""), "99aa06d3014798d86001c324468d497f");  // from the specification of XXH3
}

}  // namespace
}  // namespace tap::ir
