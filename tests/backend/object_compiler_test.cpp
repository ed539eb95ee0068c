// Objects of kernels: the same for any number of threads, one symbol for equal kernels, and what the cache gives back.
#include "backend/llvm/object_compiler.h"

#include <sys/stat.h>

#include <set>

#include "backend/llvm/build_id.h"
#include "backend/llvm/jit.h"
#include "support/check.h"
#include "tests/backend/compare.h"
#include "tests/runtime/temp_folder.h"

namespace tap::backend::test {
namespace {

// y[i] = factor · x[i], of several sizes
std::vector<Kernel> sample_kernels(const char* names = "i") {
  std::vector<Kernel> kernels;
  for (int factor = 1; factor <= 6; ++factor) {
    Build b("y");
    auto i = b.parallel(names, 7);
    auto x = b.operand(f32, {7});
    b.result(f32, {7}, {b[i]});
    kernels.push_back(lower({}, b.map({b.apply(CellOp::mul, {b.literal(f32, factor), b.read(x, {b[i]})})})));
  }
  return kernels;
}

std::vector<std::pair<std::string, std::string>> made(const ObjectCompiler& compiler,
                                                      const std::vector<Kernel>& kernels) {
  std::vector<std::pair<std::string, std::string>> objects;
  for (Object& object : compiler.compile(kernels)) objects.emplace_back(object.symbol, object.bytes);
  return objects;
}

std::size_t cached(const ObjectCompiler& compiler, const std::vector<Kernel>& kernels) {
  std::size_t count = 0;
  for (const Object& object : compiler.compile(kernels)) count += object.cached;
  return count;
}

TEST(ObjectCompiler, DoesNotDependOnThreadCount) {
  auto kernels = sample_kernels();
  auto alone = made(ObjectCompiler({.threads = 1}), kernels);
  EXPECT_EQ(made(ObjectCompiler({.threads = 4}), kernels), alone);
  EXPECT_EQ(made(ObjectCompiler({.threads = 64}), kernels), alone);
  EXPECT_TRUE(made(ObjectCompiler({.threads = 4}), {}).empty());
}

// Else a sanitizer would not see what kernels read and write.
TEST(ObjectCompiler, KernelsAreSanitizedLikeTheBuild) {
#if defined(__SANITIZE_THREAD__)
  const std::vector<bool> expected{true, false};
#elif defined(__SANITIZE_ADDRESS__)
  const std::vector<bool> expected{false, true};
#else
  const std::vector<bool> expected{false, false};
#endif
  for (const Object& object : ObjectCompiler({}).compile(sample_kernels())) {
    auto calls = [&](const char* function) { return object.bytes.find(function) != std::string::npos; };
    EXPECT_EQ((std::vector<bool>{calls("__tsan_write"), calls("__asan_")}), expected);
  }
}

TEST(ObjectCompiler, SymbolsDependOnTheComputationOnly) {
  auto objects = made(ObjectCompiler({}), sample_kernels());
  std::set<std::string> symbols;
  for (const auto& [symbol, bytes] : objects) {
    EXPECT_TRUE(symbol.starts_with("k_") && symbol.size() == 34) << symbol;
    EXPECT_NE(bytes.find(symbol), std::string::npos);
    symbols.insert(symbol);
  }
  EXPECT_EQ(symbols.size(), objects.size());
  EXPECT_EQ(made(ObjectCompiler({}), sample_kernels("row")), objects) << "names make no difference";
}

TEST(ObjectCompiler, CacheReturnsStoredObjects) {
  TempFolder folder;
  auto cache = std::make_shared<KernelCache>(CacheOptions{.folder = folder.file("kernels"), .chosen = true});
  ObjectCompiler with({.cache = cache});
  auto kernels = sample_kernels();
  auto expected = made(ObjectCompiler({}), kernels);
  EXPECT_EQ(cached(with, kernels), 0u);
  EXPECT_EQ(cached(with, kernels), kernels.size());
  EXPECT_EQ(made(with, kernels), expected);
  EXPECT_TRUE(cache->take_warnings().empty());
}

TEST(ObjectCompiler, EqualKernelsOfOneProgramShareAFunction) {
  auto kernels = sample_kernels();
  kernels.push_back(kernels.front());
  Jit jit;
  auto functions = jit.compile(kernels);
  EXPECT_EQ(functions.front(), functions.back());
  EXPECT_EQ(std::set(functions.begin(), functions.end()).size(), kernels.size() - 1);
  EXPECT_EQ(jit.compile({kernels[1]}).front(), functions[1]);
}

TEST(ObjectCompiler, BuildIdIsSet) { EXPECT_GT(build_id().size(), 16u); }

TEST(Digest, IsSha256OfPartsWithTheirLengths) {
  // printf '\3\0\0\0\0\0\0\0abc' | sha256sum
  EXPECT_EQ(to_hex(digest_of({"abc"})), "ce91dc5eec0139adf091900d225971d6ad246a845bad791b5693a9d0d55dd391");
  EXPECT_NE(digest_of({"ab", "c"}), digest_of({"a", "bc"}));
}

Digest key(char c) { return digest_of({std::string_view(&c, 1)}); }

TEST(KernelCache, StoresNothingWithoutAFolder) {
  KernelCache cache({});
  cache.store(key('a'), "code");
  EXPECT_EQ(cache.find(key('a')), std::nullopt);
  EXPECT_TRUE(cache.take_warnings().empty());
}

TEST(KernelCache, DamagedEntryIsDroppedAndReported) {
  TempFolder folder;
  KernelCache cache({.folder = folder.path()});
  cache.store(key('a'), "code");
  cache.store(key('b'), "");
  EXPECT_EQ(cache.find(key('a')), "code");
  EXPECT_EQ(cache.find(key('b')), "");
  std::string path = folder.file(to_hex(key('a')) + ".kernel");
  std::string whole = read_file(path);
  for (std::size_t at = 0; at <= whole.size(); ++at) {
    std::string bytes = at < whole.size() ? whole : whole + "x";
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    folder.write(to_hex(key('a')) + ".kernel", bytes);
    EXPECT_EQ(cache.find(key('a')), std::nullopt) << at;
    auto warnings = cache.take_warnings();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].code, Code::kernel_cache);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  cache.store(key('a'), "code");
  EXPECT_EQ(cache.find(key('a')), "code");
}

TEST(KernelCache, FolderWritableByOthersIsNotUsed) {
  TempFolder folder;
  { KernelCache(CacheOptions{.folder = folder.path()}).store(key('a'), "code"); }
  chmod(folder.path().c_str(), 0770);
  KernelCache cache({.folder = folder.path()});
  EXPECT_EQ(cache.find(key('a')), std::nullopt);
  EXPECT_EQ(cache.take_warnings().size(), 1u);
}

// The oldest entries go where there are too many, and only entries: what else lies in the folder is not ours.
TEST(KernelCache, OnlyEntriesAreTrimmed) {
  TempFolder folder;
  folder.write("notes.txt", std::string(4096, 'n'));
  {
    KernelCache cache({.folder = folder.path(), .most_bytes = 1000});
    for (char c : {'a', 'b', 'c'}) cache.store(key(c), std::string(400, c));
  }
  EXPECT_TRUE(std::filesystem::exists(folder.file("notes.txt")));
  KernelCache cache({.folder = folder.path()});
  int kept = 0;
  for (char c : {'a', 'b', 'c'}) kept += cache.find(key(c)).has_value();
  EXPECT_GE(kept, 1);
  EXPECT_LT(kept, 3);
}

// What is tried is kept after that, and is not taken by who tries against something else, or not at all.
TEST(Jit, RejectedKernelsAreNotCached) {
  TempFolder folder;
  auto cache = std::make_shared<KernelCache>(CacheOptions{.folder = folder.file("kernels"), .chosen = true});
  const std::vector<Kernel> kernels = sample_kernels();
  const std::vector<std::string> against(kernels.size(), "something");
  Jit refusing({.cache = cache, .cache_immediately = false});
  auto refuse = [](std::size_t k, KernelFunction) {
    if (k == 2) throw InternalError("kernel 2 is wrong");
  };
  EXPECT_THROW(refusing.compile(kernels, {against, refuse}), InternalError);
  std::vector<std::size_t> tried;
  Jit again({.cache = cache, .cache_immediately = false});
  again.compile(kernels, {against, [&](std::size_t k, KernelFunction) { tried.push_back(k); }});
  EXPECT_EQ(again.cached(), 2u);
  EXPECT_EQ(tried, (std::vector<std::size_t>{2, 3, 4, 5}));
  Jit untried({.cache = cache});
  untried.compile(kernels);
  EXPECT_EQ(untried.cached(), 0u);
}

}  // namespace
}  // namespace tap::backend::test
