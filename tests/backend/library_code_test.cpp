// The objects of a library: the same for any number of threads, and equal kernels once.
#include <set>

#include "backend/llvm/library.h"
#include "tests/backend/compare.h"

namespace tap::backend::test {
namespace {

// y[i] = factor · x[i], of several sizes; the last equals the first.
std::vector<Kernel> kernels_of_a_library() {
  std::vector<Kernel> kernels;
  for (int factor : {1, 2, 3, 4, 5, 1}) {
    Build b("y");
    auto i = b.parallel("i", 7);
    auto x = b.operand(f32, {7});
    b.result(f32, {7}, {b[i]});
    kernels.push_back(lower({}, b.map({b.apply(CellOp::mul, {b.literal(f32, factor), b.read(x, {b[i]})})})));
  }
  return kernels;
}

LibraryCode code_on(std::size_t threads, const std::vector<Kernel>& kernels) {
  return compile({.prefix = "p", .kernels = &kernels, .tables = {7}}, *target_named("native"), {.threads = threads});
}

TEST(LibraryCode, DoesNotDependOnThreadCount) {
  const std::vector<Kernel> kernels = kernels_of_a_library();
  const LibraryCode alone = code_on(1, kernels);
  ASSERT_EQ(alone.kernels.size(), kernels.size());
  for (std::size_t threads : {2, 7, 64}) {
    const LibraryCode code = code_on(threads, kernels);
    EXPECT_EQ(code.program, alone.program);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      EXPECT_EQ(code.kernels[k].symbol, alone.kernels[k].symbol);
      EXPECT_EQ(code.kernels[k].bytes, alone.kernels[k].bytes);
    }
    EXPECT_EQ(link_shared(code, "p.so"), link_shared(alone, "p.so"));
    EXPECT_EQ(link_relocatable(code, *target_named("native")), link_relocatable(alone, *target_named("native")));
  }
}

TEST(LibraryCode, EqualKernelsAreLinkedOnce) {
  const LibraryCode code = code_on(4, kernels_of_a_library());
  std::set<std::string> symbols;
  for (const Object& kernel : code.kernels) symbols.insert(kernel.symbol);
  EXPECT_EQ(symbols.size(), code.kernels.size() - 1);
  EXPECT_EQ(code.kernels.front().bytes, code.kernels.back().bytes);
  EXPECT_FALSE(link_shared(code, "p.so").empty());  // a symbol that is defined twice is an error
}

}  // namespace
}  // namespace tap::backend::test
