#include "backend/loops/loops_verify.h"

#include "backend/loops/loops_verify_parts.h"
#include "support/check.h"

namespace tap::backend {

std::vector<std::string> verify(const Kernel& kernel) {
  verifying::Violations out;
  verifying::verify_tables(out, kernel);
  if (out.count() == 0) verifying::verify_statements(out, kernel);
  return out.take();
}

void require_verified(const Kernel& kernel, std::string_view step) {
  auto problems = verify(kernel);
  TAP_CHECK(problems.empty(), std::string(step) + " produced invalid loops: " + problems[0]);
}

}  // namespace tap::backend
