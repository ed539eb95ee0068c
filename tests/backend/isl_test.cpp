// libLLVM exports the isl functions of its own copy. In a binary that links both, ours must win.
#include <gtest/gtest.h>

#include "backend/llvm/jit.h"

extern "C" const char* isl_version(void);

TEST(Isl, IsTheLinkedVersion) {
  tap::backend::Jit jit;  // LLVM is really there
  EXPECT_STREQ(isl_version(), "isl-0.25-GMP\n");
}
