// Round trips with NumPy: what it writes we read with the same values, what we write it reads with the same values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <sstream>

#include "runtime/tensors/npy.h"
#include "runtime/tensors/npz.h"
#include "runtime/tensors/tensor_file.h"
#include "runtime/write_file.h"
#include "temp_folder.h"

namespace tap {
namespace {

const char* const script = "/usr/bin/python3 " TAP_SOURCE_DIR "/tests/runtime/make_npy.py ";

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  while (std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

// One line in the form that the script writes.
std::string line(const std::string& file, const std::string& entry, const Tensor& tensor) {
  std::string shape;
  for (std::int64_t extent : tensor.shape()) shape += (shape.empty() ? "" : "x") + std::to_string(extent);
  std::string text =
      file + " " + entry + " " + std::string(name_of(tensor.type())) + " " + (shape.empty() ? "scalar" : shape);
  for (std::int64_t at = 0; at < tensor.size(); ++at) {
    text += ' ';
    if (!is_float(tensor.type())) text += std::to_string(tensor.load_i64(at));
    else if (std::isnan(tensor.load_f64(at))) text += "nan";
    else text += "#";  // compared as a number
  }
  return text;
}

void expect_same(const std::string& theirs, const std::string& file, const std::string& entry, const Tensor& ours) {
  std::istringstream expected(theirs), found(line(file, entry, ours));
  std::string a, b;
  std::int64_t at = -4;
  while (expected >> a) {
    ASSERT_TRUE(found >> b) << theirs;
    if (b == "#") {
      double value = std::strtod(a.c_str(), nullptr);
      ASSERT_EQ(ours.load_f64(at), value) << theirs;
      ASSERT_EQ(std::signbit(ours.load_f64(at)), std::signbit(value)) << theirs;
    } else {
      ASSERT_EQ(b, a) << file << " " << entry << " at " << at;
    }
    ++at;
  }
  EXPECT_FALSE(found >> b) << file;
}

TEST(NumPy, ReadsEveryFileOfNumPy) {
  TempFolder folder;
  output_of(script + ("write " + folder.path()));
  std::istringstream index(read_file(folder.file("index")));
  TensorFiles files;
  std::string text;
  int lines = 0;
  while (std::getline(index, text)) {
    std::istringstream words(text);
    std::string file, entry;
    words >> file >> entry;
    expect_same(text, file, entry, files.load(folder.file(file), entry == "-" ? "" : entry));
    ++lines;
  }
  EXPECT_EQ(lines, 9 * 7 * 4 + 2 + 4 * 9 * 7 + 1);
  EXPECT_NO_THROW(files.require_intact());
}

Tensor sample(ElementType type, Shape shape) {
  Tensor tensor(type, std::move(shape));
  for (std::int64_t at = 0; at < tensor.size(); ++at) {
    if (is_float(type)) tensor.store_f64(at, at == 1 ? -INFINITY : at == 2 ? NAN : static_cast<double>(at) / 7 - 1);
    else tensor.store_i64(at, at * 37 - 5);
  }
  return tensor;
}

TEST(NumPy, NumPyReadsEveryFile) {
  TempFolder folder;
  std::vector<NamedTensor> all;
  std::vector<OutputFile> outputs;
  for (std::size_t i = 0; i < element_type_count; ++i) {
    auto type = static_cast<ElementType>(i);
    if (!npy_can_hold(type)) continue;
    int number = 0;
    for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{5}, Shape{0, 4}, Shape{2, 1, 3, 1}}) {
      std::string name = std::string(name_of(type)) + "_" + std::to_string(number++);
      Tensor tensor = sample(type, shape);
      outputs.push_back({folder.file(name + ".npy"), {npy_header(type, shape), tensor}});
      all.push_back({name, tensor});
    }
  }
  outputs.push_back({folder.file("all.npz"), encode_npz(all)});
  write_files(outputs);
  std::istringstream read(output_of(script + ("read " + folder.path())));
  std::map<std::string, std::string> theirs;
  std::string text;
  while (std::getline(read, text)) {
    std::istringstream words(text);
    std::string file, entry;
    words >> file >> entry;
    theirs[file + ":" + entry] = text;
  }
  EXPECT_EQ(theirs.size(), 2 * all.size());
  for (const auto& [name, tensor] : all) {
    expect_same(theirs[name + ".npy:-"], name + ".npy", "-", tensor);
    expect_same(theirs["all.npz:" + name], "all.npz", name, tensor);
  }
}

TEST(NumPy, WrittenFilesAreUsedWithoutACopy) {
  Tensor tensor = sample(ElementType::f32, {7, 3});
  SharedBytes npy =
      bytes_of_text(npy_header(tensor.type(), tensor.shape()) + std::string(bytes_of(Content::value_type(tensor))));
  const std::byte* at = parse_npy(npy, "`x`").data();
  EXPECT_TRUE(at > npy.data() && at < npy.data() + npy.size());
  SharedBytes npz = bytes_of_text(flatten(encode_npz({{"a", tensor}, {"name", tensor}})));
  at = NpzFile(npz, "`x`").load("name").data();
  EXPECT_TRUE(at > npz.data() && at < npz.data() + npz.size());
}

}  // namespace
}  // namespace tap
