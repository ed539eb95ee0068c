// Kernels against the interpreter of loops: those of random operators, and handwritten ones with unrolled loops and lanes
// at every size of a tail, in memory that ends on both sides where the tensor ends.
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "backend/llvm/jit.h"
#include "backend/loops/loops_text.h"
#include "backend/loops/loops_verify.h"
#include "backend/lower/lowered.h"
#include "tests/backend/compare.h"
#include "tests/backend/interpret_loops.h"
#include "tests/backend/random_operator.h"
#include "tests/kernel_text/parse_kernel.h"

namespace tap::backend::test {
namespace {

// Memory between two pages that nobody may touch: at the end of its own, or at the beginning.
class Guarded {
 public:
  Guarded(const Tensor& tensor, bool at_end) : size_(tensor.byte_size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    whole_ = (size_ + page - 1) / page * page + 2 * page;
    void* memory = mmap(nullptr, whole_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    pages_ = static_cast<std::byte*>(memory);
    if (whole_ > 2 * page && mprotect(pages_ + page, whole_ - 2 * page, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
    data_ = at_end ? pages_ + whole_ - page - size_ : pages_ + page;
    if (size_ > 0) std::memcpy(data_, tensor.data(), size_);
  }
  ~Guarded() { munmap(pages_, whole_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  void* data() const { return data_; }
  bool same_as(const Tensor& tensor) const { return size_ == 0 || std::memcmp(data_, tensor.data(), size_) == 0; }

 private:
  std::size_t size_, whole_ = 0;
  std::byte *pages_ = nullptr, *data_ = nullptr;
};

// Values of all signs, with fractions where the type has them; coordinates are small.
Tensor sample_values(const TensorType& type, std::int64_t start) {
  Tensor t(type.element, type.shape);
  for (std::int64_t c = 0; c < t.size(); ++c) {
    std::int64_t value = (start + 7 * c) % 23 - (type.element == ElementType::u8 ? 0 : 9);
    if (is_bool(type.element)) t.store_i64(c, value % 2 != 0);
    else if (is_float(type.element)) t.store_f64(c, static_cast<double>(value) / 8);
    else t.store_i64(c, value);
  }
  return t;
}

// Runs the function on copies in guarded memory; both must give the same bits, also where nothing is to be written.
void expect_same(const Kernel& kernel, KernelFunction function, const std::vector<std::int64_t>& box,
                 std::int64_t start = 0, std::int64_t first_tile = 0, std::int64_t end_tile = 1) {
  std::vector<Tensor> tensors;
  for (std::size_t t = 0; t < kernel.operands + kernel.results; ++t)
    tensors.push_back(sample_values(kernel.tensors[t].type, start + static_cast<std::int64_t>(3 * t)));
  std::vector<Tensor> expected = tensors;
  auto call_on = [&](auto memory_of) {
    Call call;
    call.first_tile = first_tile;
    call.end_tile = end_tile;
    call.box = box;
    for (std::size_t t = 0; t < tensors.size(); ++t)
      call.add({memory_of(t), row_major_strides(kernel.tensors[t].type.shape)});
    return call;
  };
  Call plain = call_on([&](std::size_t t) { return expected[t].mutable_data(); });
  std::optional<LoopFailure> failure;
  try {
    failure = interpret(kernel, plain);
  } catch (const std::out_of_range& e) {
    FAIL() << e.what() << " over " << to_string(box) << " tiles " << first_tile << ".." << end_tile << "\n"
           << print(kernel);
  }
  for (bool at_end : {true, false}) {
    std::vector<std::unique_ptr<Guarded>> memory;
    for (const Tensor& tensor : tensors) memory.push_back(std::make_unique<Guarded>(tensor, at_end));
    Call call = call_on([&](std::size_t t) { return memory[t]->data(); });
    Guarded scratch(Tensor(ElementType::u8, {static_cast<std::int64_t>(scratch_bytes(kernel))}), at_end);
    call.run(function, scratch.data());
    ASSERT_EQ(call.why, failure ? static_cast<std::int32_t>(failure->why) : 0) << print(kernel);
    if (failure) {
      for (std::size_t d = 0; d < failure->point.size(); ++d)
        ASSERT_EQ(call.error.point[d], failure->point[d]) << "dim " << d << " of the failing point\n" << print(kernel);
      continue;
    }
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (memory[t]->same_as(expected[t])) continue;
      std::string cells;
      Tensor got(tensors[t].type(), tensors[t].shape());
      std::memcpy(got.mutable_data(), memory[t]->data(), got.byte_size());
      for (std::int64_t c = 0; c < got.size(); ++c)
        if (got.load_f64(c) != expected[t].load_f64(c))
          cells += " [" + std::to_string(c) + "] " + std::to_string(got.load_f64(c)) + " not " +
                   std::to_string(expected[t].load_f64(c));
      FAIL() << kernel.tensors[t].name << " over " << to_string(box) << ":" << cells << "\n" << print(kernel);
    }
  }
}

Kernel kernel_of(const std::string& text) {
  auto parsed = parse_kernel(text);
  if (const auto* error = std::get_if<ir::TextError>(&parsed)) {
    ADD_FAILURE() << error->line << ":" << error->column << ": " << error->message << "\n" << text;
    return {};
  }
  Kernel kernel = std::get<Kernel>(std::move(parsed));
  EXPECT_EQ(verify(kernel), std::vector<std::string>{}) << text;
  EXPECT_TRUE(std::get<Kernel>(parse_kernel(print(kernel))) == kernel) << text;
  return kernel;
}

// All kernels at once: compiling each alone would take longer.
struct Compiled {
  Jit jit;
  std::vector<Kernel> kernels;
  std::vector<KernelFunction> functions;
  explicit Compiled(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) kernels.push_back(kernel_of(text));
    functions = jit.compile(kernels);
  }
};

std::string replaced(std::string text, std::initializer_list<std::pair<std::string, std::string>> words) {
  for (const auto& [from, to] : words)
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

// One dim of 40 cells from `least` to 33 cells, of which the box has every size from 0 to 33.
void expect_same_at_all_sizes(const std::vector<std::string>& texts, std::int64_t least = 0) {
  Compiled compiled(texts);
  for (std::size_t k = 0; k < texts.size(); ++k)
    for (std::int64_t size = 0; size <= 33; ++size)
      for (std::int64_t begin : {least, least + 5, least + 40 - size})
        if (begin + size <= least + 40) {
          ASSERT_NO_FATAL_FAILURE(expect_same(compiled.kernels[k], compiled.functions[k], {begin, begin + size}, size));
        }
}

struct LaneType {
  const char *name, *lanes, *cell;
};
constexpr LaneType lane_types[] = {
    {"f32", "16", "max(x[i], -x[i]) * 3.0 + 0.5"},
    {"f64", "8", "x[i] * x[i] - 0.5_f64"},
    {"f16", "16", "f16(f32(x[i]) * 3.0)"},
    {"bf16", "16", "bf16(f32(x[i]) + 0.125)"},
    {"i64", "8", "x[i] * 3 - i"},
    {"i32", "16", "if x[i] < 0_i32 then -x[i] else i32(i)"},
    {"i16", "32", "bitand(x[i], 7_i16) + abs(x[i])"},
    {"i8", "64", "x[i] * x[i] + i8(i)"},
    {"u8", "4", "max(x[i], 3_u8) - 1_u8"},
    {"bool", "16", "not x[i] or i == 7"},
};

TEST(LoopLanes, MapsOfEveryTypeAtAllSizes) {
  std::vector<std::string> texts;
  for (const LaneType& type : lane_types)
    texts.push_back(replaced(R"(kernel (x: TYPE[40]) -> (y: TYPE[40]) over (i)
  for i0 in lo_i..hi_i step LANES
    lanes i in i0..hi_i of LANES
      y[i] = CELL
)",
                             {{"TYPE", type.name}, {"LANES", type.lanes}, {"CELL", type.cell}}));
  expect_same_at_all_sizes(texts);
}

TEST(LoopLanes, AccessesOfEveryShapeAtAllSizes) {
  const std::string frame =
      R"(kernel (x: f32[40], w: f32[80], m: f32[40, 3], n: i64[40]) -> (y: f32[40], z: f32[3, 40], v: f32[121]) over (i)
  for i0 in lo_i..hi_i step 16
    lanes i in i0..hi_i of 16
)";
  std::vector<std::string> texts;
  for (const char* statement : {
           "y[39 - i] = x[i]",                                           // reversed
           "y[i] = x[39 - i] - x[i]",                                    //
           "y[i] = w[2*i] + w[2*i + 1]",                                 // strided
           "y[i] = w[2*i - 9? else x[0]] - m[i, 2]",                     //
           "y[i] = w[79 - 2*i] + m[39 - i, 2]",                          //
           "v[3*i + 1] = x[i]",                                          //
           "z[1, i], z[2, i] = m[i, 1], m[39 - i, 0] + x[0]",            // in columns, and the same for all
           "y[i] = x[i - 3? else 0.5] + x[i + 5? else -1.0]",            // fills at both ends
           "y[i] = x[2*i - 20? else x[i]]",                              //
           "y[i] = x[(n[i])? else 7.0] * m[(n[39 - i])?, 2 else i0_f]",  // from data
           "y[i] = if x[i] < 0.0 then x[39 - i] else w[i + 40]",         //
           "y[i] = if n[i] < 0 and i != 3 or n[i] == 4 then 1.0 else f32(n[i])",
       })
    texts.push_back(frame + "      " + replaced(statement, {{"i0_f", "f32(i0)"}}) + "\n");
  expect_same_at_all_sizes(texts);
}

// Every cell between those of the lanes is read, and none before the first or after the last.
TEST(LoopLanes, CellsAFewApartOfEveryType) {
  std::vector<std::string> texts;
  for (const LaneType& type : lane_types)
    for (const char* cell : {"w[2*i]", "w[3*i + 1]", "w[4*i + 3]", "w[2*i - 7? else w[0]]", "w[3*i + 50? else w[1]]",
                             "w[159 - 4*i]", "m[i, 0]", "m[i, 2]", "m[39 - i, 1]"})
      texts.push_back(replaced(R"(kernel (w: TYPE[160], m: TYPE[40, 3]) -> (y: TYPE[40]) over (i)
  for i0 in lo_i..hi_i step LANES
    lanes i in i0..hi_i of LANES
      y[i] = CELL
)",
                               {{"TYPE", type.name}, {"LANES", type.lanes}, {"CELL", cell}}));
  expect_same_at_all_sizes(texts);
}

TEST(LoopLanes, NegativeCoordinates) {
  expect_same_at_all_sizes({R"(kernel (x: f32[40]) -> (y: f32[40]) over (i)
  for i0 in lo_i..hi_i step 16
    lanes i in i0..hi_i of 16
      y[i + 25] = x[14 - i] + f32(i)
)"},
                           -25);
}

TEST(LoopLanes, ReductionsWithMasksAndFolds) {
  const std::string sums = R"(kernel (x: f32[40]) -> (s: f32[], m: f32[], n: i64[]) over (i)
  acc0: f32xLANES
  acc1: f32xLANES
  acc2: i64xLANES
  acc3: f32
  acc4: f32
  acc5: i64
  acc6: f32
  acc7: f32
  acc8: f32
  acc9: f32
  acc10: i64
  acc11: i64
  acc0, acc1, acc2 = 0.0, -inf, -1
  for i0 in lo_i..hi_i step LANES
    lanes i in i0..hi_i of LANES
      let %0 = acc1 < x[i]
      acc0, acc1, acc2 = acc0 + x[i] * x[i], if %0 then x[i] else acc1, if %0 then i else acc2
  acc3 = fold acc0 by (acc6; acc7) -> acc6 + acc7
  let %1 = acc8 < acc9 or acc8 == acc9 and acc11 < acc10
  acc4, acc5 = fold acc1, acc2 by (acc8, acc10; acc9, acc11) -> if %1 then acc9 else acc8, if %1 then acc11 else acc10
  s[], m[], n[] = acc3, acc4, acc5
)";
  expect_same_at_all_sizes({replaced(sums, {{"LANES", "16"}}), replaced(sums, {{"LANES", "4"}}),
                            replaced(sums, {{"LANES", "2"}}), replaced(sums, {{"LANES", "64"}})});
}

// 5 rows by 2 vectors of 16, in the rest 1 row and 1 vector: a matrix product's register tile.
TEST(LoopLanes, RegisterTiles) {
  const std::string tile = R"(kernel (a: f32[11, 7], b: f32[7, 70]) -> (c: f32[11, 70]) over (i, j, k)
  cut i by 5 worth 1
  acc0: f32x16[10]
  let i1 = floor((hi_i - lo_i) / 5)
  for i0 in lo_i..lo_i + 5*i1 step 5
    for j0 in lo_j..hi_j step 32
      unroll r in i0 of 5
        unroll u in 0 of 2
          acc0[2*r + u] = 0.0
      for k in lo_k..hi_k
        unroll i in i0 of 5
          unroll v in 0 of 2
            lanes j in 16*v + j0..hi_j of 16
              acc0[2*i + v] = acc0[2*i + v] + a[i, k] * b[k, j]
      unroll i in i0 of 5
        unroll v in 0 of 2
          lanes j in 16*v + j0..hi_j of 16
            c[i, j] = acc0[2*i + v]
  for i in lo_i + 5*i1..hi_i
    for j0 in lo_j..hi_j step 16
      acc0[0] = 0.0
      for k in lo_k..hi_k
        lanes j in j0..hi_j of 16
          acc0[0] = acc0[0] + a[i, k] * b[k, j]
      lanes j in j0..hi_j of 16
        c[i, j] = acc0[0]
)";
  Compiled compiled({tile});
  for (std::int64_t rows : {0, 1, 4, 5, 6, 10, 11})
    for (std::int64_t columns : {0, 1, 15, 16, 17, 31, 32, 33, 48, 65, 70})
      for (std::int64_t depth : {0, 1, 7})
        ASSERT_NO_FATAL_FAILURE(expect_same(compiled.kernels[0], compiled.functions[0],
                                            {11 - rows, 11, 0, columns, 7 - depth, 7}, rows, 0,
                                            tile_count(compiled.kernels[0], {{{0, rows}, {}, {}}})));
  expect_same(compiled.kernels[0], compiled.functions[0], {0, 11, 3, 70, 0, 7}, 1, 1, 2);
}

// What straight code has computed must not be taken for something else that has the same name.
TEST(LoopLanes, KnownExpressionsAreNotConfused) {
  expect_same_at_all_sizes({
      // The inner loop begins elsewhere at each turn of the outer one.
      R"(kernel (x: f32[120], w: f32[40]) -> (y: f32[40, 3, 2]) over (i)
  for i in lo_i..hi_i
    unroll u in i of 3
      unroll v in 2*u of 2
        y[i, u - i, v - 2*u] = x[v] * w[i]
)",
      // Two loops over one variable.
      R"(kernel (x: f32[80]) -> (y: f32[40, 2], z: f32[40, 2]) over (i)
  for i in lo_i..hi_i
    unroll u in 0 of 2
      unroll v in i of 1
        y[i, u] = x[v]
      unroll v in i + 7 of 1
        z[i, u] = x[v]
)",
      // A store to what is read makes it forget; then another vector comes.
      R"(kernel (x: f32[80]) -> (y: f32[80], z: f32[80]) over (i)
  for i0 in lo_i..hi_i step 8
    unroll v in 0 of 2
      lanes i in i0 + 4*v..hi_i of 4
        y[i] = x[i] + y[i]
        z[i] = x[i] - y[i]
)",
      // A variable that is defined again in each turn, from bounds and from data.
      R"(kernel (x: f32[160], n: i64[40]) -> (y: f32[40, 3], z: f32[40, 3]) over (i)
  for i in lo_i..hi_i
    unroll u in 0 of 3
      let v = max(2*i, i + 3*u)
      let w = (abs(n[i]) + u)
      unroll q in 0 of 1
        y[i, u] = x[v] + x[w + q]
        z[i, u] = x[v + w] + f32(w)
)",
  });
}

TEST(LoopLanes, LocalMemory) {
  expect_same_at_all_sizes({R"(kernel (x: f32[40], w: f16[40]) -> (y: f32[40]) over (i)
  local p: f32[40] holds [16] at (i0)
  local q: f16[80] holds [32] at (2*i0)
  for i0 in lo_i..hi_i step 16
    fetch y[1000000000*i0 - 500000000]
    lanes i in i0..hi_i of 16
      fetch x[40*i + 100]
      p[i] = x[39 - i] + 1.0
    for i in i0..min(hi_i, i0 + 16)
      q[2*i], q[2*i + 1] = w[i], f16(p[i])
    lanes i in i0..hi_i of 16
      y[i] = p[i] * x[i] + f32(q[2*i]) - f32(q[2*i + 1])
)"});
}

TEST(LoopInterpreter, FailuresAndSections) {
  expect_same_at_all_sizes({R"(kernel (x: i64[40], w: i64[12]) -> (y: i64[40]) over (i)
  for i in lo_i..hi_i
    if i - 2 >= 0, (x[i] != 3)
      y[i] = 100 / (x[i] + 4) + w[(abs(x[i]))?]!
)",
                            R"(kernel (x: i64[40]) -> (y: i64[40]) over (i)
  section 1 at (j) from (lo_i) of ()
  for j in lo_i..hi_i down
    section 1
      y[j] = 100 % (x[j] + 4)
)"});
}

TEST(LoopInterpreter, RandomOperators) {
  Jit jit;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 numbers(seed);
    std::vector<std::uint8_t> bytes(200);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(numbers() >> 40);
    Choices choose(bytes);
    Program program;
    std::vector<Operator> operators;
    operators.push_back(RandomOperator(program, choose).make());
    operators.push_back(RandomOperator(program, choose).make_scan());
    operators.push_back(RandomOperator(program, choose).make_scatter());
    std::vector<Kernel> kernels;
    for (const Operator& op : operators) {
      kernels.push_back(lowered(program, op));
      EXPECT_TRUE(kernel_of(print(kernels.back())) == kernels.back());
    }
    auto functions = jit.compile(kernels);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      std::vector<std::int64_t> box;
      for (const IndexDim& dim : operators[k].dims) {
        box.push_back(dim.range.lo);
        box.push_back(dim.range.hi);
      }
      std::int64_t tiles = tile_count(kernels[k], operators[k].box());
      ASSERT_NO_FATAL_FAILURE(expect_same(kernels[k], functions[k], box, choose(11), 0, tiles));
      if (tiles > 1) { ASSERT_NO_FATAL_FAILURE(expect_same(kernels[k], functions[k], box, choose(11), 1, 2)); }
    }
  }
}

}  // namespace
}  // namespace tap::backend::test
