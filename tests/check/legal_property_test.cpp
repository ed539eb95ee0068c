// What the checker finds of guarded reads, against what integer sets decide: where neither refuses it runs, by one point more.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "check/legal.h"
#include "compiler/frontend/proofs/legality.h"
#include "tests/frontend/random_reader.h"

namespace tap::check {
namespace {

bool refuses(const ir::Operator& op) {
  try {
    reads_are_inside(op);
    return false;
  } catch (const Refusal&) { return true; }
}

RC_GTEST_PROP(LegalReadsProperty, RefusedIffAPointIsOutside, ()) {
  const ir::Operator op = tap::testing::random_reader();
  Legality legality;
  RC_ASSERT(refuses(op) == legality.check_reads(op).has_value());
}

}  // namespace
}  // namespace tap::check
