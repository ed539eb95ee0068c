// The self-check of kernels (backend/trial/self_check.h) for every target: natively if this processor runs the
// code, otherwise under qemu. And the errors that it reports for wrong kernels.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "backend/llvm/self_check_library.h"
#include "backend/machine_of.h"
#include "support/check.h"
#include "tests/planted/kernel_blocks.h"
#include "tests/runtime/temp_folder.h"

namespace tap::driver {
namespace {

using namespace backend;

const SelfCheckOptions thorough{true, {20000, 200000, 200000}};

Library library_of(const CompiledProgram& compiled) { return {"t", &compiled.kernels.kernels, {0}}; }

CompiledProgram lowered_for(const Target& target, const tap::test::KernelProgram& program) {
  return backend::lower(tap::test::blocks_of(program), false, machine_of(target));
}

std::string llvm_for(std::string_view target_name, const tap::test::KernelProgram& program) {
  const Target target = *target_named(target_name);
  const CompiledProgram compiled = lowered_for(target, program);
  return emit(library_of(compiled), target, {.llvm = true}).llvm;
}

TEST(KernelSelfCheck, SupportedTargetsPass) {
  for (const char* name : {"native", "x86-64-v3", "x86-64-v4"}) {
    const Target target = *target_named(name);
    if (!runs_here(target)) continue;
    for (const tap::test::KernelProgram& program : tap::test::kernel_programs) {
      SCOPED_TRACE(std::string(name) + ": " + program.name);
      const CompiledProgram compiled = lowered_for(target, program);
      EXPECT_NO_THROW(check_library(compiled, compile(library_of(compiled), target), thorough));
    }
  }
}

// No masked store is left under a constant mask, for any target: LLVM stores too many bytes there (exact_masks.h).
TEST(KernelSelfCheck, NoStoreIsUnderAConstantMask) {
  for (const std::string& name : target_names())
    for (const tap::test::KernelProgram& program : tap::test::kernel_programs) {
      std::istringstream text(llvm_for(name, program));
      for (std::string line; std::getline(text, line);) {
        const bool stores = line.find("call void @llvm.masked.store") != std::string::npos ||
                            line.find("call void @llvm.masked.scatter") != std::string::npos;
        if (!stores) continue;
        const std::string mask = line.substr(line.rfind(" x i1>"));
        EXPECT_EQ(mask.find("i1 true"), std::string::npos) << name << ", " << program.name << ": " << line;
        EXPECT_EQ(mask.find("splat ("), std::string::npos) << name << ", " << program.name << ": " << line;
      }
    }
}

// With AVX-512 no masked access is narrower than a vector register: LLVM loses the mask's upper half (narrow_masks.h).
TEST(KernelSelfCheck, NoMaskedAccessIsNarrow) {
  const std::regex access(R"(@llvm\.masked\.(?:store|load)\.v(\d+)(?:i|f|bf)(\d+)\.)");
  int checked = 0;
  for (const tap::test::KernelProgram& program : tap::test::kernel_programs) {
    std::istringstream text(llvm_for("x86-64-v4", program));
    std::smatch match;
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("declare") || !std::regex_search(line, match, access)) continue;
      ++checked;
      EXPECT_GE(std::stoi(match[1]) * std::max(8, std::stoi(match[2])), 128) << program.name << ": " << line;
    }
  }
  EXPECT_GT(checked, 0);
}

// No loop of one block multiplies the number of its iteration: it carries a sum along (strength_reduction.h).
TEST(KernelSelfCheck, LoopsCarryProducts) {
  const std::regex label(R"(([\w.]+):.*)"), phi(R"(  (%[\w.]+) = phi i64 .*)");
  const std::regex loop_end(R"(  br i1 .*label %([\w.]+), label %([\w.]+).*)");
  const std::regex product(R"(  %[\w.]+ = mul (?:nuw |nsw )*i64 (%[\w.]+), \d+.*)");
  int loops = 0;
  for (const tap::test::KernelProgram& program : tap::test::kernel_programs) {
    std::istringstream text(llvm_for("x86-64-v4", program));
    std::string block, of_iteration;
    std::set<std::string> iterations;
    std::smatch match;
    for (std::string line; std::getline(text, line);) {
      if (std::regex_match(line, match, label)) {
        block = match[1];
        of_iteration.clear();
        iterations.clear();
      } else if (std::regex_match(line, match, phi)) {
        iterations.insert(match[1]);
      } else if (std::regex_match(line, match, product) && iterations.contains(match[1])) {
        of_iteration = line;
      } else if (std::regex_match(line, match, loop_end) && (match[1] == block || match[2] == block)) {
        ++loops;
        EXPECT_EQ(of_iteration, "") << program.name;
      }
    }
  }
  EXPECT_GT(loops, 0);
}

// Every case with its kernel, in words of eight bytes and bytes, for the program below.
class CaseFile {
 public:
  void add(std::size_t kernel, const CheckCase& trial) {
    words({kernel, trial.box.size(), trial.calls.size(), trial.tensors.size(), trial.scratch});
    for (std::int64_t x : trial.box) words({static_cast<std::uint64_t>(x)});
    for (auto [first, end] : trial.calls) words({static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end)});
    for (const CheckedTensor& tensor : trial.tensors) {
      words({tensor.bytes.size(), static_cast<std::uint64_t>(tensor.origin), tensor.strides.size()});
      for (std::int64_t x : tensor.strides) words({static_cast<std::uint64_t>(x)});
      bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    }
  }
  std::string bytes;

 private:
  void words(std::initializer_list<std::uint64_t> list) {
    for (std::uint64_t word : list) bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
};

// Calls each case's kernel and writes whether it failed and what is in memory after.
constexpr const char* runner = R"(
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int32_t (*kernel)(const int64_t *, void *const *, const int64_t *, void *, int64_t, int64_t, void *);
extern const kernel t_kernels[];
void tap_library_prepare(void) {}
void tap_library_run(void) {}
void tap_library_bind(void) {}
void tap_library_call(void) {}
void tap_library_unbind(void) {}
void tap_library_prepare_dlpack(void) {}
void tap_library_run_dlpack(void) {}
void tap_library_message(void) {}
void tap_library_release(void) {}
static int64_t word(FILE *f) { int64_t w; if (fread(&w, 8, 1, f) != 1) exit(0); return w; }
int main(int argc, char **argv) {
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
  if (argc != 3 || !in || !out) return 1;
  for (;;) {
    int64_t which = word(in), box_size = word(in), calls = word(in), tensors = word(in), scratch_size = word(in), k;
    int64_t box[200], tiles[20], strides[1000], count = 0, sizes[100];
    void *buffers[100];
    char *memory[100], failed = 0, error[2048], *scratch = aligned_alloc(64, (scratch_size + 127) / 64 * 64);
    for (k = 0; k < box_size; ++k) box[k] = word(in);
    for (k = 0; k < 2 * calls; ++k) tiles[k] = word(in);
    for (k = 0; k < tensors; ++k) {
      int64_t size = word(in), origin = word(in), rank = word(in);
      while (rank-- > 0) strides[count++] = word(in);
      memory[k] = aligned_alloc(64, (size + 127) / 64 * 64);
      if (fread(memory[k], 1, size, in) != (size_t)size) return 2;
      buffers[k] = (void *)((uintptr_t)memory[k] + (uintptr_t)origin);
      sizes[k] = size;
    }
    memset(scratch, 0xff, scratch_size);
    memset(scratch, 0, scratch_size < 64 ? scratch_size : 64);
    for (k = 0; k < calls && !failed; ++k)
      failed = t_kernels[which](box, buffers, strides, scratch, tiles[2 * k], tiles[2 * k + 1], error) != 0;
    fwrite(&failed, 1, 1, out);
    for (k = 0; k < tensors; ++k) { fwrite(memory[k], 1, sizes[k], out); free(memory[k]); }
    free(scratch);
    fflush(out);
  }
}
)";

std::string contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream all;
  all << stream.rdbuf();
  return all.str();
}

bool is_there(const char* program) {
  return std::system((std::string("command -v ") + program + " > /dev/null").c_str()) == 0;
}

// What is in memory after the cases, as the runner wrote it.
void expect_expected_cells(const CompiledProgram& compiled,
                           const std::vector<std::pair<std::size_t, CheckCase>>& trials, const std::string& after) {
  std::size_t at = 0;
  for (const auto& [kernel, trial] : trials) {
    ASSERT_LT(at, after.size()) << "kernel " << kernel << " did not come back";
    const bool failed = after[at++] != 0;
    std::vector<std::vector<std::byte>> memory;
    for (const CheckedTensor& tensor : trial.tensors) {
      ASSERT_LE(at + tensor.bytes.size(), after.size());
      memory.emplace_back(tensor.bytes.size());
      std::memcpy(memory.back().data(), after.data() + at, tensor.bytes.size());
      at += tensor.bytes.size();
    }
    const auto wrong = difference(trial, memory, failed);
    EXPECT_FALSE(wrong) << "kernel " << kernel << ": " << *wrong << " on "
                        << describe(compiled.kernels.sources[kernel], trial);
  }
}

TEST(KernelSelfCheck, Aarch64UnderQemu) {
  // Both are installed with the other dependencies: without them nothing would be tested.
  ASSERT_TRUE(is_there("qemu-aarch64") && is_there("aarch64-linux-gnu-gcc"));
  const Target target = *target_named("aarch64");
  TempFolder folder;
  auto run = [&](const std::string& command) {
    return std::system(("cd " + folder.file("") + " && " + command).c_str());
  };
  std::ofstream(folder.file("runner.c")) << runner;
  ASSERT_EQ(run("aarch64-linux-gnu-gcc -O1 -c runner.c -o runner.o"), 0);
  for (const tap::test::KernelProgram& program : tap::test::kernel_programs) {
    SCOPED_TRACE(program.name);
    const CompiledProgram compiled = lowered_for(target, program);
    CaseFile file;
    std::vector<std::pair<std::size_t, CheckCase>> trials;
    for (std::size_t k = 0; k < compiled.kernels.kernels.size(); ++k)
      for (CheckCase& trial :
           cases_for(compiled.blocks.program, compiled.kernels.sources[k], compiled.kernels.kernels[k], {})) {
        file.add(k, trial);
        trials.emplace_back(k, std::move(trial));
      }
    const LibraryCode code = compile(library_of(compiled), target);
    std::ofstream(folder.file("t.o"), std::ios::binary) << code.program;
    std::string objects = "t.o";
    std::set<std::string> symbols;
    for (const Object& kernel : code.kernels) {
      if (!symbols.insert(kernel.symbol).second) continue;
      std::ofstream(folder.file(kernel.symbol + ".o"), std::ios::binary) << kernel.bytes;
      objects += " " + kernel.symbol + ".o";
    }
    std::ofstream(folder.file("cases"), std::ios::binary) << file.bytes;
    ASSERT_EQ(run("aarch64-linux-gnu-gcc -static runner.o " + objects +
                  " -lm -o runner && qemu-aarch64 ./runner cases after"),
              0);
    expect_expected_cells(compiled, trials, contents(folder.file("after")));
  }
}

std::int32_t empty_kernel(const std::int64_t*, void* const*, const std::int64_t*, void*, std::int64_t, std::int64_t,
                          KernelError*) {
  return 0;
}
std::int32_t fails(const std::int64_t*, void* const*, const std::int64_t*, void*, std::int64_t, std::int64_t,
                   KernelError*) {
  return static_cast<std::int32_t>(KernelFailure::division_by_zero);
}
// y[i] = 2 * x[i], and one cell more.
std::int32_t writes_past_the_end(const std::int64_t* box, void* const* buffers, const std::int64_t*, void*,
                                 std::int64_t, std::int64_t, KernelError*) {
  for (std::int64_t i = box[0]; i <= box[1]; ++i)
    static_cast<float*>(buffers[1])[i] = 2 * static_cast<const float*>(buffers[0])[i];
  return 0;
}
std::int32_t writes_before(const std::int64_t* box, void* const* buffers, const std::int64_t*, void*, std::int64_t,
                           std::int64_t, KernelError*) {
  for (std::int64_t i = box[0]; i < box[1]; ++i)
    static_cast<float*>(buffers[1])[i] = 2 * static_cast<const float*>(buffers[0])[i];
  static_cast<float*>(buffers[1])[box[0] - 1] = 0;
  return 0;
}
std::int32_t changes_an_operand(const std::int64_t* box, void* const* buffers, const std::int64_t*, void*, std::int64_t,
                                std::int64_t, KernelError*) {
  for (std::int64_t i = box[0]; i < box[1]; ++i)
    static_cast<float*>(buffers[1])[i] = 2 * std::exchange(static_cast<float*>(buffers[0])[i], 1.0f);
  return 0;
}

TEST(KernelSelfCheck, WrongKernelsAreRejected) {
  const tap::test::KernelProgram program{"y", "program p(x: f32[20]) -> (y: f32[20]) { y[i] = 2 * x[i] }"};
  const CompiledProgram compiled = lowered_for(*target_named("native"), program);
  ASSERT_EQ(compiled.kernels.kernels.size(), 1u);
  auto error_of = [&](KernelFunction function) -> std::string {
    try {
      check_kernel(compiled.blocks.program, compiled.kernels.sources[0], 0, compiled.kernels.kernels[0], function, {});
      return "";
    } catch (const InternalError& error) { return error.what(); }
  };
  auto expect = [&](KernelFunction function, const std::string& part) {
    EXPECT_NE(error_of(function).find(part), std::string::npos) << error_of(function);
  };
  expect(empty_kernel, "result 0[0] is ");
  expect(empty_kernel, "the self-check rejects kernel 0 of `");
  expect(empty_kernel, "on the box i 0..20");
  expect(fails, "it fails, but the operator has a value");
  expect(writes_past_the_end, "result 0: byte 80 from its cell 0");
  expect(writes_before, "result 0: byte -4 from its cell 0");
  expect(changes_an_operand, "operand 0: byte ");
}

}  // namespace
}  // namespace tap::driver
