#include "compiler/driver/certify.h"

#include <gtest/gtest.h>

namespace tap::driver {
namespace {

Certified with(check::Standing standing) {
  Certified certified;
  certified.verdict.findings.push_back(
      check::Finding{check::Obligation::laws, standing, "step 1", "the monoid `m`: to be associative"});
  return certified;
}

TEST(Certify, ARefusedObligationEndsTheCommand) {
  try {
    require_justified(with(check::Standing::refused), false);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit_code, exit_code::check_failed);
    EXPECT_EQ(failure.diagnostic.code, Code::not_justified);
    EXPECT_EQ(failure.diagnostic.message,
              "step 1: the obligation `laws` is refused: the monoid `m`: to be associative");
  }
}

TEST(Certify, AnAssumedOneWhereAProofIsAskedFor) {
  EXPECT_NO_THROW(require_justified(with(check::Standing::assumed), false));
  EXPECT_THROW(require_justified(with(check::Standing::assumed), true), Failure);
  EXPECT_NO_THROW(require_justified(with(check::Standing::proved), true));
}

}  // namespace
}  // namespace tap::driver
