// Every family of kernels at sizes around those of lanes, of register tiles and of nothing: native code against the
// interpreter, with inputs and results in memory that ends on both sides where the tensor ends.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "backend/compiled_program.h"
#include "compiler/driver/standard_library.h"
#include "ir/interpret/interpret.h"
#include "passes/fusion/fuse_auto.h"
#include "passes/pass_manager.h"
#include "passes/splits/expand.h"
#include "runtime/executor.h"
#include "tests/frontend/compile_source.h"

namespace tap::driver {
namespace {

struct Family {
  const char* name;
  const char* text;    // over dims n, m and k
  double allowed = 0;  // relative; else the bits are the same
};
const Family families[] = {
    {"product", "(a: f32[n, k], b: f32[k, m]) -> (y: f32[n, m]) { y[i, j] = sum[t] a[i, t] * b[t, j] }"},
    {"product_tn", "(a: f32[k, n], b: f32[k, m]) -> (y: f32[n, m]) { y[i, j] = sum[t] a[t, i] * b[t, j] }"},
    {"product_nt", "(a: f32[n, k], b: f32[m, k]) -> (y: f32[n, m]) { y[i, j] = sum[t] a[i, t] * b[j, t] }"},
    {"product_tt", "(a: f64[k, n], b: f64[m, k]) -> (y: f64[n, m]) { y[i, j] = sum[t] a[t, i] * b[j, t] }"},
    {"batched",
     "(a: f32[3, n, k], b: f32[3, k, m]) -> (y: f32[3, n, m]) { y[c, i, j] = sum[t] a[c, i, t] * b[c, t, j] }"},
    {"constants", "(a: f32[n, k], const b: f32[m, k]) -> (y: f32[n, m]) { y[i, j] = sum[t] a[i, t] * b[j, t] }"},
    {"matvec",
     "(a: f32[n, k], x: f32[k], z: f32[n]) -> (y: f32[n], w: f32[k]) "
     "{ y[i] = sum[t] a[i, t] * x[t]  w[t] = sum[i] a[i, t] * z[i] }"},
    {"halves", "(a: f16[n, k], b: f16[k, m]) -> (y: f16[n, m]) { y[i, j] = f16(sum[t] f32(a[i, t]) * f32(b[t, j])) }"},
    {"brains", "(a: bf16[n, k], b: bf16[m, k]) -> (y: f32[n, m]) { y[i, j] = sum[t] f32(a[i, t]) * f32(b[j, t]) }"},
    {"bytes", "(a: i8[n, k], b: i8[k, m]) -> (y: i32[n, m]) { y[i, j] = sum[t] i32(a[i, t]) * i32(b[t, j]) }"},
    {"shortest_ways", "(a: f32[n, k], b: f32[k, m]) -> (y: f32[n, m]) { y[i, j] = min[t] a[i, t] + b[t, j] }"},
    {"convolution",
     "(x: f32[k, n], w: f32[m, k, 3]) -> (y: f32[m, n]) "
     "{ y[o, i] = sum[c, u] x[c, i + u - 1 else 0] * w[o, c, u] for i in 0..n }"},
    {"strided_convolution",
     "(x: f32[2, 2*n + 1, m], w: f32[m, k]) -> (y: f32[2, n, k]) "
     "{ y[b, i, o] = sum[u in 0..3, c] x[b, 2*i + u, c] * w[c, o] for i in 0..n }"},
    {"sums",
     "(a: f32[n, m]) -> (r: f32[n], c: f32[m], s: f32[], t: f32[n]) "
     "{ r[i] = sum[j] a[i, j]  c[j] = sum[i] a[i, j]  s[] = sum[i, j] a[i, j]  t[i] = max[j] a[i, j] }"},
    {"sums_inside",
     "(a: i64[n, m, k]) -> (y: i64[n, k], z: i64[m]) "
     "{ y[i, l] = sum[j] a[i, j, l]  z[j] = sum[i, l] a[i, j, l] }"},
    {"softmax", "(a: f32[n, m]) -> (y: f32[n, m]) { y = softmax(a) }", 1e-5},
    {"norm", "(a: f32[n, m], g: f32[m], b: f32[m]) -> (y: f32[n, m]) { y = layer_norm(a, g, b) }", 1e-4},
    {"attention", "(q: f32[n, 5], a: f32[m + 1, 5], v: f32[m + 1, k]) -> (y: f32[n, k]) { y = attention(q, a, v) }",
     1e-5},
    {"causal", "(q: f32[n, 5], a: f32[n, 5], v: f32[n, k]) -> (y: f32[n, k]) { y = attention_causal(q, a, v) }", 1e-5},
    {"scans",
     "(a: f32[n, m]) -> (y: f32[n, m], z: f32[n, m]) "
     "{ y[i, j] = sum[t in 0..j+1] a[i, t] for j in 0..m  z[i, j] = max[t in i..n] a[t, j] for i in 0..n }"},
    {"gather", "(a: f32[n + 1, m], i: i64[k]) -> (y: f32[k, m]) { y[p, j] = a[i[p], j else -1] }"},
    {"scatter",
     "(a: f32[k, m], i: i64[k]) -> (y: f32[n, m]) { y[e, j] = sum[p] (if i[p] == e then a[p, j] else 0) for e in 0..n "
     "}"},
    {"transpose", "(a: f32[n, m]) -> (y: f32[m, n]) { y[j, i] = a[i, j] }"},
    {"permute", "(a: i8[n, m, k]) -> (y: i8[k, n, m]) { y[l, i, j] = a[i, j, l] }"},
    {"reverse", "(a: f64[n, m]) -> (y: f64[n, m]) { y[i, j] = a[n - 1 - i, m - 1 - j] for i in 0..n, j in 0..m }"},
    {"stencil",
     "(a: f32[n, m]) -> (y: f32[n, m]) { y[i, j] = a[i, j] + a[i - 1, j else 0] - a[i + 1, j else 1] "
     "+ 2 * a[i, j - 1 else 3] - a[i, j + 1 else -1] for i in 0..n, j in 0..m }"},
    {"argmax",
     "(a: f32[n, m + 1]) -> (y: i64[n], z: i64[m + 1]) { y = argmax_axis<1>(a)  z[j] = min[i] (if a[i, j] < 0 then i "
     "else 99) }"},
    {"maps",
     "(a: f32[n, m], v: f32[m], c: f32[n]) -> (y: f32[n, m], z: i8[n, m]) "
     "{ y[i, j] = max(a[i, j] * v[j] + c[i], 0)  z[i, j] = i8(a[i, j]) - 1 }"},
    {"steps",
     "(a: f32[n]) -> (y: f32[n]) { y = iterate 3 (v = a) { w[i] = v[i - 1 else 0] + v[i + 1 else 0] for i in 0..n\n w "
     "} }"},
};

// Between two pages that nobody may touch: at the end of its own, or at the beginning.
std::shared_ptr<std::byte> guarded(std::size_t size, bool at_end) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inner = (size + page - 1) / page * page, whole = inner + 2 * page;
  void* memory = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* pages = static_cast<std::byte*>(memory);
  if (inner > 0 && mprotect(pages + page, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return {at_end ? pages + whole - page - size : pages + page, [=](std::byte*) { munmap(pages, whole); }};
}

// Small integers; integers are coordinates, some of them outside.
Tensor values(const ir::TensorType& type, std::int64_t start) {
  Tensor tensor(type.element, type.shape);
  for (std::int64_t k = 0; k < tensor.size(); ++k) {
    std::int64_t value = (start + 5 * k) % 9 - 3;
    if (is_float(type.element)) tensor.store_f64(k, static_cast<double>(value));
    else tensor.store_i64(k, value);
  }
  return tensor;
}

void expect_near(const Tensor& expected, const std::byte* found, double allowed) {
  if (allowed == 0) {
    EXPECT_TRUE(expected.byte_size() == 0 || std::memcmp(expected.data(), found, expected.byte_size()) == 0);
    return;
  }
  Tensor got(expected.type(), expected.shape());
  if (got.byte_size() > 0) std::memcpy(got.mutable_data(), found, got.byte_size());
  for (std::int64_t k = 0; k < got.size(); ++k)
    ASSERT_NEAR(got.load_f64(k), expected.load_f64(k), allowed * std::max(1.0, std::fabs(expected.load_f64(k))))
        << "cell " << k;
}

// As a compiled library runs it, with memory that is guarded.
class Native {
 public:
  explicit Native(const ir::Program& program) : compiled_(backend::lower(passes::expand(program))) {
    compiled_.functions = jit_.compile(compiled_.kernels.kernels);
    tables_ = backend::encode(backend::schedule(compiled_.blocks, compiled_.kernels), compiled_.kernels.kernels);
    EXPECT_EQ(executor_.start({tables_.data(), compiled_.functions.data()}, 2), executor::Status::done);
  }
  ~Native() { executor_.stop(); }

  void expect(const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected, double allowed, bool at_end) {
    std::vector<std::shared_ptr<std::byte>> memory;
    std::vector<executor::TensorView> in, out;
    for (const auto* list : {&inputs, &expected})
      for (const Tensor& tensor : *list) {
        memory.push_back(guarded(tensor.byte_size(), at_end));
        if (list == &inputs && tensor.byte_size() > 0)
          std::memcpy(memory.back().get(), tensor.data(), tensor.byte_size());
        (list == &inputs ? in : out).push_back({memory.back().get(), nullptr});
      }
    executor::Message message;
    ASSERT_EQ(executor_.prepare(in.data(), message), executor::Status::done) << message.text();
    ASSERT_EQ(executor_.run(in.data(), out.data(), message), executor::Status::done) << message.text();
    for (std::size_t k = 0; k < expected.size(); ++k)
      expect_near(expected[k], static_cast<const std::byte*>(out[k].data), allowed);
  }

 private:
  backend::Jit jit_;
  backend::CompiledProgram compiled_;
  std::vector<std::int64_t> tables_;
  executor::Executor executor_;
};

using Sizes = std::array<std::int64_t, 3>;

void expect_at(const Family& family, const Sizes& sizes) {
  SCOPED_TRACE(testing::Message() << "n = " << sizes[0] << ", m = " << sizes[1] << ", k = " << sizes[2]);
  CompileOptions options;
  options.standard_library = embedded::std_tap;
  const std::string text = "use std\ndim n = 1, m = 1, k = 1\nprogram p" + std::string(family.text);
  for (std::size_t d = 0; d < 3; ++d) options.dims[std::string(1, "nmk"[d])] = {sizes[d]};
  auto outcome = test::compile_text(text, options);
  ASSERT_TRUE(outcome.compiled) << outcome.messages;
  const ir::Program& source = outcome.compiled->program;
  std::vector<Tensor> inputs;
  for (ir::ValueId v : source[source.main].inputs)
    inputs.push_back(values(source[source.main][v].type, static_cast<std::int64_t>(inputs.size())));
  const std::vector<Tensor> expected = ir::interpret(source, source.main, inputs).outputs;
  const ir::Program program = passes::run(passes::lowering(), source).program;
  const ir::Program fused = passes::fuse_auto(program).program;
  for (const ir::Program* one : {&program, &fused}) {
    if (one == &fused && fused == program) continue;
    Native native(*one);
    for (bool at_end : {true, false}) native.expect(inputs, expected, family.allowed, at_end);
  }
}

class EdgeSizes : public testing::TestWithParam<Family> {};

// The campaign requests them (scripts/campaign.sh): each takes a kernel of its own, and these minutes.
bool all_sizes() { return std::getenv("TAP_ALL_SIZES") != nullptr; }

TEST_P(EdgeSizes, EveryDim) {
  for (std::int64_t size : {0, 1, 7, 13, 16, 17, 31}) {
    ASSERT_NO_FATAL_FAILURE(expect_at(GetParam(), {size, 31 - size, 5 + size}));
    if (!all_sizes()) continue;
    for (const Sizes& sizes : {Sizes{size, 13, 5}, Sizes{6, size, 7}, Sizes{5, 17, size}, Sizes{size, size, size}})
      ASSERT_NO_FATAL_FAILURE(expect_at(GetParam(), sizes));
  }
}

TEST_P(EdgeSizes, AroundTiles) {
  for (std::int64_t size : {14, 15, 28, 33, 48, 63, 64, 65, 127, 128, 129}) {
    if (!all_sizes() && size % 32 != 1 && size != 15) continue;
    for (const Sizes& sizes : {Sizes{size, 2, 3}, Sizes{3, size, 2}})
      ASSERT_NO_FATAL_FAILURE(expect_at(GetParam(), sizes));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, EdgeSizes, testing::ValuesIn(families),
                         [](const auto& info) { return std::string(info.param.name); });

// Sizes at which operands are packed, in blocks of which the last is not whole.
TEST(EdgeSizesOfBlocks, PackedProducts) {
  const Family packed[] = {families[0], families[2], families[5], families[7], families[9]};
  for (const Family& family : packed)
    for (const Sizes& sizes : {Sizes{29, 97, 579}, Sizes{57, 1031, 13}, Sizes{43, 33, 1200}}) {
      SCOPED_TRACE(family.name);
      ASSERT_NO_FATAL_FAILURE(expect_at(family, sizes));
    }
}

}  // namespace
}  // namespace tap::driver
