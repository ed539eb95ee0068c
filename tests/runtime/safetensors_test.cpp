#include "runtime/tensors/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "temp_folder.h"

namespace tap {
namespace {

std::string file(const std::string& header, const std::string& data = "") {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i));
  return text + header + data;
}
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"w\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
}
void load_tensors(const std::string& bytes) {
  SafetensorsFile opened(bytes_of_text(bytes), "`x.safetensors`");
  for (const std::string& name : opened.names()) opened.load(name);
}
void refused_tensors(const std::string& bytes, const std::string& part, int exit_code = 3) {
  expect_failure([&] { load_tensors(bytes); }, exit_code, part);
}

TEST(Safetensors, ReadsAFileWrittenByHand) {
  std::string header =
      "{\"__metadata__\":{\"format\":\"pt\"},\"b\":{\"data_offsets\":[4,8],\"dtype\":\"BF16\",\"shape\":[2]},"
      "\"a\\u00e9\\ud83d\\ude00\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[0,4]}}   ";
  SafetensorsFile opened(bytes_of_text(file(header, std::string("\xFF\xFF\xFF\xFF\x80\x3F\x00\xC0", 8))), "`x`");
  EXPECT_EQ(opened.names(), (std::vector<std::string>{"b", "aé😀"}));
  EXPECT_EQ(opened.load("aé😀").load_i64(0), -1);
  EXPECT_EQ(opened.load("b").load_f64(0), 1.0);
  EXPECT_EQ(opened.load("b").load_f64(1), -2.0);
  EXPECT_NO_THROW(load_tensors(file("{}")));
}

TEST(Safetensors, RoundTrips) {
  std::vector<NamedTensor> all;
  for (std::size_t i = 0; i < element_type_count; ++i) {
    auto type = static_cast<ElementType>(i);
    for (const Shape& shape : {Shape{3}, Shape{}, Shape{2, 0}}) {
      Tensor t(type, shape);
      for (std::int64_t at = 0; at < t.size(); ++at) t.store_i64(at, at + 1);
      all.push_back({std::string(name_of(type)) + to_string(shape) + "\"\\\n", t});
    }
  }
  SafetensorsFile again(bytes_of_text(flatten(encode_safetensors(all))), "`x`");
  EXPECT_EQ(again.names().size(), all.size());
  for (const auto& [name, tensor] : all) {
    Tensor read = again.load(name);
    EXPECT_EQ(read.type(), tensor.type());
    EXPECT_EQ(read.shape(), tensor.shape());
    EXPECT_EQ(bytes_of(Content::value_type(read)), bytes_of(Content::value_type(tensor)));
  }
}

TEST(Safetensors, TruncatedAnywhere) {
  std::string good = file(one("U8", "[3]", "[0,3]"), "abc");
  EXPECT_NO_THROW(load_tensors(good));
  for (std::size_t size = 0; size < good.size(); ++size) {
    ThrownFailure t = thrown_by([&] { load_tensors(good.substr(0, size)); });
    EXPECT_EQ(t.exit_code, 3) << size;
    EXPECT_NE(t.message.find("is truncated in its "), std::string::npos) << t.message;
  }
  refused_tensors(good + "x", "has data after its end: 3 bytes expected, 4 follow");
}

TEST(Safetensors, HeaderLengths) {
  refused_tensors(std::string(8, '\xFF'), "at most 100000000 are allowed");
  refused_tensors(std::string("\x64\0\0\0\0\0\0\0ab", 10), "100 bytes expected, 2 found");
  refused_tensors(file(""), "expected `{`");
}

TEST(Safetensors, OffsetsCoverTheDataOnce) {
  refused_tensors(file(one("U8", "[3]", "[0,2]"), "ab"), "is u8[3] of 3 bytes, and its offsets are 0 to 2");
  refused_tensors(file(one("U8", "[1]", "[2,1]"), "ab"), "its offsets are 2 to 1");
  refused_tensors(file(one("U8", "[2]", "[1,3]"), "abc"), "leaves a gap before it");
  std::string two =
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_"
      "offsets\":[1,3]}}";
  refused_tensors(file(two, "abc"), "`b` overlaps the tensor before it");
  refused_tensors(file(one("F32", "[4611686018427387904]", "[0,0]")), "does not fit in 64 bits");
  refused_tensors(file(one("U8", "[9223372036854775808]", "[0,0]")), "a number below 2^63");
  refused_tensors(file(one("U8", "[-1]", "[0,0]")), "an unsigned number");
  refused_tensors(file(one("U8", "[1.0]", "[0,1]"), "a"), "`,` or `]`");
}

TEST(Safetensors, TheHeaderIsExactlyItsSchema) {
  refused_tensors(file(one("U8", "[0]", "[0,0]") + "x"), "only blanks");
  refused_tensors(file(" {}"), "expected `{` at byte 0");
  refused_tensors(file("{\"w\":{}}"), "lacks the key `dtype`");
  refused_tensors(file("{\"w\":{\"extra\":1}}"), "the unknown key `extra`");
  refused_tensors(file("{\"w\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}"), "the key `dtype` twice");
  std::string entry = "\"w\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  refused_tensors(file("{" + entry + "," + entry + "}"), "the key `w` twice");
  refused_tensors(file("{" + entry + ",}"), "a name in double quotes");
  refused_tensors(file("{\"__metadata__\":{\"a\":1}}"), "metadata must be strings");
  refused_tensors(file("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}"), "the key `a` twice");
  refused_tensors(file("{\"w\":[1]}"), "expected `{`");
  refused_tensors(file("{\"w\\x\":1}"), "a JSON escape");
  refused_tensors(file("{\"\\ud800\":1}"), "surrogate");
  refused_tensors(file("{\"\\udc00\":1}"), "surrogate");
  refused_tensors(file("{\"\xC3(\":1}"), "valid UTF-8");
  refused_tensors(file("{\"w\":" + std::string(1000000, '{')), "a name in double quotes");
  refused_tensors(file(one("F8_E4M3", "[1]", "[0,1]"), "a"), "of type `F8_E4M3`");
  refused_tensors(file(one("BOOL", "[2]", "[0,2]"), "\1\3"), "the byte 3 as element 1 of a bool tensor");
}

}  // namespace
}  // namespace tap
