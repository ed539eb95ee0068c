// Damaged and hostile archives: row E10 of the list of bad inputs.
#include "runtime/tensors/npz.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "runtime/tensors/npy.h"
#include "temp_folder.h"

namespace tap {
namespace {

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  return text;
}

// A zip file written by hand, so that each field can be wrong.
struct Entry {
  std::string name, data;
  std::uint16_t method = 0, flags = 0;
  std::uint32_t size = 0, crc = 0;
  std::uint32_t packed_size = 0;
};
Entry stored(const std::string& name, const std::string& data) {
  auto crc = crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
  auto size = static_cast<std::uint32_t>(data.size());
  return {name, data, 0, 0, size, static_cast<std::uint32_t>(crc), size};
}
Entry deflated(const std::string& name, const std::string& data) {
  Entry entry = stored(name, data);
  std::string packed(compressBound(data.size()) + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  entry.data = packed;
  entry.method = 8;
  entry.packed_size = static_cast<std::uint32_t>(packed.size());
  return entry;
}

std::string local_of(const Entry& e) {
  return "PK\3\4" + little(20, 2) + little(e.flags, 2) + little(e.method, 2) + little(0, 4) + little(e.crc, 4) +
         little(e.packed_size, 4) + little(e.size, 4) + little(e.name.size(), 2) + little(0, 2) + e.name + e.data;
}
std::string central_of(const Entry& e, std::size_t offset) {
  return "PK\1\2" + little(20, 2) + little(20, 2) + little(e.flags, 2) + little(e.method, 2) + little(0, 4) +
         little(e.crc, 4) + little(e.packed_size, 4) + little(e.size, 4) + little(e.name.size(), 2) + little(0, 12) +
         little(offset, 4) + e.name;
}
std::string end_of(std::size_t count, std::size_t size, std::size_t offset) {
  return "PK\5\6" + little(0, 4) + little(count, 2) + little(count, 2) + little(size, 4) + little(offset, 4) +
         little(0, 2);
}
std::string zip(const std::vector<Entry>& entries) {
  std::string body, directory;
  for (const Entry& e : entries) {
    directory += central_of(e, body.size());
    body += local_of(e);
  }
  return body + directory + end_of(entries.size(), directory.size(), body.size());
}

const std::string array = npy_header(ElementType::u8, {3}) + "abc";

void load_all(const std::string& bytes, const DataLimits& limits = {}) {
  NpzFile file(bytes_of_text(bytes), "`x.npz`", limits);
  for (const std::string& name : file.names()) file.load(name);
}
void refused_npz(const std::string& bytes, const std::string& part, int exit_code = 3, const DataLimits& limits = {}) {
  expect_failure([&] { load_all(bytes, limits); }, exit_code, part);
}

TEST(Npz, ReadsStoredAndDeflatedEntries) {
  NpzFile file(bytes_of_text(zip({stored("a.npy", array), deflated("deep/b.npy", array)})), "`x.npz`");
  EXPECT_EQ(file.names(), (std::vector<std::string>{"a", "deep/b"}));
  EXPECT_EQ(file.load("a").load_i64(2), 'c');
  EXPECT_EQ(file.load("deep/b").load_i64(0), 'a');
  EXPECT_FALSE(file.has("b"));
  EXPECT_NO_THROW(load_all(zip({})));
}

TEST(Npz, E10NamesThatLeadOutside) {
  refused_npz(zip({stored("../../x.npy", array)}), "leads out of its folder");
  refused_npz(zip({stored("a/../../x.npy", array)}), "leads out of its folder");
  refused_npz(zip({stored("/etc/x.npy", array)}), "is absolute");
  refused_npz(zip({stored("C:x.npy", array)}), "is absolute");
  refused_npz(zip({stored("a\\x.npy", array)}), "backslash");
  refused_npz(zip({stored(std::string("a\0.npy", 6), array)}), "`a\\x00.npy` whose name contains a NUL byte");
  refused_npz(zip({stored("", array)}), "is empty");
  refused_npz(zip({stored("readme.txt", "hi")}), "which is not an array");
  refused_npz(zip({stored(".npy", array)}), "which is not an array");
  EXPECT_NO_THROW(load_all(zip({stored("..a/b...npy", array)})));
}

TEST(Npz, E10DuplicateEntries) { refused_npz(zip({stored("a.npy", array), stored("a.npy", array)}), "`a.npy` twice"); }

TEST(Npz, E10EncryptedAndUnknownMethods) {
  Entry entry = stored("a.npy", array);
  entry.flags = 1;
  refused_npz(zip({entry}), "encrypted");
  entry.flags = 0;
  entry.method = 12;
  refused_npz(zip({entry}), "compressed with method 12");
}

TEST(Npz, E10Bombs) {
  std::string zeros = npy_header(ElementType::u8, {8 << 20}) + std::string(8 << 20, '\0');
  refused_npz(zip({deflated("bomb.npy", zeros)}), "more than 1000 times as many");
  EXPECT_NO_THROW(
      load_all(zip({deflated("fine.npy", npy_header(ElementType::u8, {500000}) + std::string(500000, '\0'))})));
  DataLimits limits;
  limits.bytes = 1000;
  refused_npz(zip({stored("a.npy", npy_header(ElementType::u8, {900}) + std::string(900, '\0'))}),
              "unpacks to more than the allowed", 4, limits);
  limits.bytes = 200;  // each entry alone would do
  refused_npz(zip({stored("a.npy", array), stored("b.npy", array)}), "unpacks to more than the allowed", 4, limits);
  limits = {};
  limits.entries = 1;
  refused_npz(zip({stored("a.npy", array), stored("b.npy", array)}), "at most 1 are allowed", 3, limits);
  // Entries that share their data: the way to build a bomb without a high ratio.
  Entry inner = stored("b.npy", array);
  Entry outer = stored("a.npy", local_of(inner));
  std::string shared = local_of(outer);
  std::string both = central_of(outer, 0) + central_of(inner, shared.size() - outer.data.size());
  refused_npz(shared + both + end_of(2, both.size(), shared.size()), "overlap");
}

TEST(Npz, E10SizesThatLie) {
  Entry entry = deflated("a.npy", array);
  entry.size -= 1;
  refused_npz(zip({entry}), "unpacks to 131 bytes, expected 130");
  entry.size += 2;
  refused_npz(zip({entry}), "unpacks to 131 bytes, expected 132");
  entry = deflated("a.npy", std::string(5000, 'x'));
  entry.size = 100;
  refused_npz(zip({entry}), "unpacks to more than its 100 bytes");
  entry = stored("a.npy", array);
  entry.size += 1;
  refused_npz(zip({entry}), "has two sizes");
  entry = stored("a.npy", array);
  entry.packed_size = entry.size = 100000;
  refused_npz(zip({entry}), "is truncated: it needs 100000 bytes");
}

TEST(Npz, E10DamagedData) {
  Entry entry = stored("a.npy", array);
  entry.data.back() ^= 1;
  refused_npz(zip({entry}), "checksum");
  entry = deflated("a.npy", array);
  entry.data[0] = '\xFF';
  refused_npz(zip({entry}), "damaged");
  // The directory and the entry itself must agree.
  std::string bytes = zip({stored("a.npy", array)});
  bytes[30] = 'b';
  refused_npz(bytes, "is called `b.npy` in its own header");
}

TEST(Npz, E10TruncatedAndCorruptedArchivesAreRefusedOrHarmless) {
  std::string good = zip({stored("a.npy", array), deflated("b.npy", array)});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(thrown_by([&] { load_all(good.substr(0, size)); }).exit_code, 3) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] ^= 0x55;
    ThrownFailure t = thrown_by([&] { load_all(bytes); });  // dates and the like do not matter; nothing crashes
    EXPECT_TRUE(t.exit_code == 0 || t.exit_code == 3 || t.exit_code == 4) << at;
  }
}

TEST(Npz, EqualTensorsGiveEqualBytes) {
  Tensor tensor(ElementType::f64, {3, 1});
  EXPECT_EQ(flatten(encode_npz({{"a", tensor}})), flatten(encode_npz({{"a", Tensor(ElementType::f64, {3, 1})}})));
}

TEST(Npz, MoreThan65535EntriesAreWrittenAsZip64) {
  std::vector<NamedTensor> many;
  for (int i = 0; i < 65600; ++i) many.push_back({"t" + std::to_string(i), Tensor(ElementType::u8, {})});
  DataLimits limits;
  limits.entries = 100000;
  NpzFile file(bytes_of_text(flatten(encode_npz(many))), "`x.npz`", limits);
  EXPECT_EQ(file.names().size(), many.size());
  EXPECT_EQ(file.load("t65599").size(), 1);
}

}  // namespace
}  // namespace tap
