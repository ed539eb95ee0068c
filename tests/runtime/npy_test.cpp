// Damaged and unusual .npy files: rows E01 to E08 and E14 of the list of bad inputs.
#include "runtime/tensors/npy.h"

#include <gtest/gtest.h>

#include "temp_folder.h"

namespace tap {
namespace {

std::string with_header(const std::string& header, const std::string& data, int major = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i));
  return text + header + data;
}
std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}
const std::string good = with_header(dict("<f4", "(2, 3)"), std::string(24, '\0'));

Tensor parse(const std::string& bytes) { return parse_npy(bytes_of_text(bytes), "`x.npy`"); }
void refused_npy(const std::string& bytes, const std::string& part, int exit_code = 3) {
  expect_failure([&] { parse(bytes); }, exit_code, part);
}

TEST(Npy, ReadsAPlainFile) {
  Tensor t = parse(good);
  EXPECT_EQ(t.type(), ElementType::f32);
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
}

TEST(Npy, AcceptsAnyKeyOrderSpacingAndQuotes) {
  std::string header = "{ \"shape\" : ( 1 , 2 , ) , 'fortran_order':False,'descr':\"|i1\"}   \n";
  Tensor t = parse(with_header(header, "\x05\xFB"));
  EXPECT_EQ(t.shape(), (Shape{1, 2}));
  EXPECT_EQ(t.load_i64(1), -5);
  EXPECT_EQ(parse(with_header(dict("<i2", "(1,)"), "ab", 2)).load_i64(0), 0x6261);
  EXPECT_EQ(parse(with_header(dict("=i2", "(1,)"), "ab", 3)).load_i64(0), 0x6261);
  EXPECT_EQ(parse(with_header(dict(">i2", "(1,)"), "ab")).load_i64(0), 0x6162);
}

TEST(Npy, E01TruncationReportsOffsetAndSize) {
  for (std::size_t size = 0; size < good.size(); ++size) {
    ThrownFailure t = thrown_by([&] { parse(good.substr(0, size)); });
    EXPECT_EQ(t.exit_code, 3) << size;
    EXPECT_NE(t.message.find("is truncated in its "), std::string::npos) << t.message;
    EXPECT_NE(t.message.find(size < good.size() - 24 ? std::to_string(size) + " found"
                                                     : std::to_string(24 - (good.size() - size)) + " follow"),
              std::string::npos)
        << size << " " << t.message;
  }
  refused_npy(good.substr(0, 3), "in its magic: 6 bytes expected, 3 found");
  refused_npy(good.substr(0, 7), "in its version: 8 bytes");
  refused_npy(good.substr(0, 9), "in its header length: 10 bytes");
  refused_npy(good.substr(0, 40), "in its header: " + std::to_string(good.size() - 24) + " bytes expected, 40 found");
  refused_npy(good.substr(0, good.size() - 1), "in its data: f32[2, 3] takes 24 bytes, and 23 follow");
  refused_npy(good + "x", "has data after its end: f32[2, 3] takes 24 bytes, and 25 follow");
}

TEST(Npy, E02BadMagicAndVersions) {
  refused_npy("NUMPY" + good, "does not begin with");
  refused_npy("PK\3\4aaaaaaaaaaa", "is not a .npy file");
  for (auto [major, minor] : {std::pair{0, 0}, {4, 0}, {255, 255}, {1, 1}}) {
    std::string bytes = good;
    bytes[6] = static_cast<char>(major);
    bytes[7] = static_cast<char>(minor);
    refused_npy(bytes, "version " + std::to_string(major) + "." + std::to_string(minor));
  }
}

TEST(Npy, E03HeaderLengthsAreCheckedBeforeAnythingIsAllocated) {
  std::string start("\x93NUMPY\1\0", 8);
  refused_npy(start + std::string("\0\0", 2), "malformed header: expected `{` at byte 0, found its end");
  refused_npy(start + "\xFF\xFF" + std::string(90, ' '), "65545 bytes expected, 100 found");
  refused_npy(std::string("\x93NUMPY\2\0\xFF\xFF\xFF\xFF", 12) + std::string(88, ' '),
              "4294967307 bytes expected, 100 found");
}

TEST(Npy, E04OnlyThePlainDictIsAccepted) {
  refused_npy(with_header("[1, 2]", ""), "expected `{` at byte 0, found `[`");
  refused_npy(with_header("{}", ""), "lacks the key `descr`");
  refused_npy(with_header("{'descr': '<f4', 'fortran_order': False}", ""), "lacks the key `shape`");
  refused_npy(with_header("{'descr': '<f4', 'descr': '<f4'}", ""), "the key `descr` twice");
  refused_npy(with_header("{'x': 1}", ""), "the unknown key `x`");
  refused_npy(with_header("{'descr': __import__('os').system('true')}", ""), "expected a type in quotes at byte 10");
  refused_npy(with_header("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "1234"), "expected `True` or `False`");
  refused_npy(with_header("{'descr': '<f' '4'}", ""), "expected `,` or `}`");
  refused_npy(with_header(dict("<f4", "()") + "x", "1234"), "expected only blanks");
  refused_npy(with_header("{'descr': '\\x3cf4'}", ""), "plain ASCII");
  refused_npy(with_header(std::string(10'000'000, '{'), "", 2), "a key in quotes");
  refused_npy(with_header("{'shape': " + std::string(10'000'000, '('), "", 2), "expected an extent");
}

TEST(Npy, E05OrdersAreConverted) {
  // [[1, 2, 3], [4, 5, 6]] with the first index fastest.
  Tensor fortran = parse(with_header(dict("|u1", "(2, 3)", "True"), "\1\4\2\5\3\6"));
  for (int at = 0; at < 6; ++at) EXPECT_EQ(fortran.load_i64(at), at + 1);
}

TEST(Npy, E06UnsupportedTypesAreNamed) {
  refused_npy(with_header(dict("|O", "(1,)"), "12345678"), "Python objects");
  refused_npy(with_header(dict("|S4", "(1,)"), "1234"), "byte strings");
  refused_npy(with_header(dict("<U1", "(1,)"), "1234"), "text");
  refused_npy(with_header(dict("<V2", "(1,)"), "12"), "store bf16 in .safetensors");
  refused_npy(with_header(dict("<c8", "(1,)"), "12345678"), "complex");
  refused_npy(with_header(dict("<f16", "(1,)"), "1234567812345678"), "floats of a size");
  refused_npy(with_header(dict("<M8[ns]", "(1,)"), "12345678"), "dates");
  refused_npy(with_header(dict("<u4", "(1,)"), "1234"), "unsigned integers of a size");
  refused_npy(with_header(dict("f4", "(1,)"), "1234"), "unknown type `f4`");
  refused_npy(with_header(dict("", "(1,)"), "1234"), "unknown type");
  refused_npy(with_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "1234"),
              "structured elements");
}

TEST(Npy, E08Shapes) {
  refused_npy(with_header(dict("<f4", "(-1,)"), ""), "a negative extent");
  refused_npy(with_header(dict("<f4", "(9223372036854775808,)"), ""), "does not fit in 64 bits");
  refused_npy(with_header(dict("<f4", "(4294967296, 4294967296)"), ""), "does not fit in 64 bits");
  refused_npy(with_header(dict("<f8", "(2305843009213693952,)"), ""), "does not fit in 64 bits");
  refused_npy(with_header(dict("<f4", "(0, 4294967296, 4294967296)"), ""), "does not fit in 64 bits");
  refused_npy(with_header(dict("<i1", "(4611686018427387904,)"), ""), "are allowed", 4);
  refused_npy(with_header(dict("<f4", "(3)"), "123456789012"), "(3,)");
  refused_npy(with_header(dict("<f4", "(2L, 3L)"), ""), "expected `,` or `)`");
  refused_npy(with_header(dict("<f4", "(02,)"), ""), "expected an extent");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1, ";
  refused_npy(with_header(dict("<i1", many + ")"), "x"), "more than 64 dims");
  EXPECT_EQ(parse(with_header(dict("<f4", "()"), "1234")).size(), 1);
  EXPECT_EQ(parse(with_header(dict("<f4", "(0,)"), "")).size(), 0);
}

TEST(Npy, E14BoolIsZeroOrOne) {
  EXPECT_EQ(parse(with_header(dict("|b1", "(2,)"), std::string("\1\0", 2))).load_i64(0), 1);
  refused_npy(with_header(dict("|b1", "(2,)"), "\1\2"), "the byte 2 as element 1 of a bool tensor");
}

}  // namespace
}  // namespace tap
