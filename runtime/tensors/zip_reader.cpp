// Reads a zip file's central directory. npz.h lists what is rejected.
#include <algorithm>
#include <limits>
#include <set>

#include "runtime/failure.h"
#include "runtime/tensors/npz.h"
#include "runtime/tensors/zip_layout.h"

namespace tap {
namespace {

using Bytes = std::span<const std::byte>;

std::uint16_t u16(Bytes bytes, std::size_t at) { return load_little<std::uint16_t>(bytes.data() + at); }
std::uint32_t u32(Bytes bytes, std::size_t at) { return load_little<std::uint32_t>(bytes.data() + at); }
std::uint64_t u64(Bytes bytes, std::size_t at) { return load_little<std::uint64_t>(bytes.data() + at); }

struct Directory {
  std::uint64_t offset = 0, size = 0, count = 0;
};

// The end record is last, except for a comment of at most 65535 bytes that must fill the rest of the file exactly.
std::size_t find_end(Bytes bytes, const std::string& source_name) {
  if (bytes.size() < zip::end_size) {
    throw zip::malformed(source_name, "it is truncated: an end record takes " + std::to_string(zip::end_size) +
                                          " bytes, and the file has " + std::to_string(bytes.size()));
  }
  std::size_t last = bytes.size() - zip::end_size;
  std::size_t first = last > 0xFFFF ? last - 0xFFFF : 0;
  for (std::size_t at = last + 1; at-- > first;) {
    if (u32(bytes, at) == zip::end_signature && u16(bytes, at + 20) == last - at) return at;
  }
  throw zip::malformed(source_name, "it is truncated or has no end record");
}

Directory read_end(Bytes bytes, const std::string& source_name) {
  std::size_t end = find_end(bytes, source_name);
  Directory directory{u32(bytes, end + 16), u32(bytes, end + 12), u16(bytes, end + 10)};
  bool one_disk = u16(bytes, end + 4) == 0 && u16(bytes, end + 6) == 0 && u16(bytes, end + 8) == u16(bytes, end + 10);
  std::uint64_t after = end;
  bool needs_zip64 = directory.offset == zip::all32 || directory.size == zip::all32 || directory.count == zip::all16;
  if (needs_zip64 && end >= zip::locator64_size && u32(bytes, end - zip::locator64_size) == zip::locator64_signature) {
    std::size_t locator = end - zip::locator64_size;
    std::uint64_t at = u64(bytes, locator + 8);
    if (at > locator || locator - at < zip::end64_size || u32(bytes, at) != zip::end64_signature) {
      throw zip::malformed(source_name, "its ZIP64 end record is not where its locator points");
    }
    one_disk = u32(bytes, locator + 4) == 0 && u32(bytes, locator + 16) <= 1 && u32(bytes, at + 16) == 0 &&
               u32(bytes, at + 20) == 0 && u64(bytes, at + 24) == u64(bytes, at + 32);
    directory = {u64(bytes, at + 48), u64(bytes, at + 40), u64(bytes, at + 32)};
    after = at;
  }
  if (!one_disk) throw zip::malformed(source_name, "it spans several disks");
  if (directory.offset > after || directory.size != after - directory.offset) {
    throw zip::malformed(source_name, "its directory should be " + plural(directory.size, "byte") + " from byte " +
                                          std::to_string(directory.offset) + " to the end record at byte " +
                                          std::to_string(after));
  }
  return directory;
}

void require_harmless(const std::string& name, const std::string& source_name) {
  std::string why;
  if (name.empty()) why = "is empty";
  else if (name.find('\0') != name.npos) why = "contains a NUL byte";
  else if (name.find('\\') != name.npos) why = "contains a backslash";
  else if (name[0] == '/' || (name.size() > 1 && name[1] == ':')) why = "is absolute";
  for (std::size_t begin = 0; why.empty() && begin <= name.size();) {
    std::size_t end = std::min(name.find('/', begin), name.size());
    if (name.compare(begin, end - begin, "..") == 0) why = "leads out of its folder";
    begin = end + 1;
  }
  if (!why.empty())
    throw wrong_data(Code::data_malformed, source_name + " has an entry " + quoted(name) + " whose name " + why);
}

// Values of all ones in the fixed part are in the zip64 extra field instead, in this order.
void read_zip64(Bytes extra, ZipEntry& entry, std::uint64_t& header, const std::string& source_name) {
  bool needs_zip64 = entry.size == zip::all32 || entry.packed_size == zip::all32 || header == zip::all32;
  for (std::size_t at = 0; needs_zip64 && at + 4 <= extra.size();) {
    std::size_t size = u16(extra, at + 2);
    if (size > extra.size() - at - 4) break;
    if (u16(extra, at) == zip::extra_zip64) {
      std::size_t next = at + 4, end = next + size;
      for (std::uint64_t* field : {&entry.size, &entry.packed_size, &header}) {
        if (*field != zip::all32) continue;
        if (end - next < 8)
          throw zip::malformed(source_name, "the ZIP64 sizes of " + quoted(entry.name) + " are truncated");
        *field = u64(extra, next);
        next += 8;
      }
      return;
    }
    at += 4 + size;
  }
}

void require_supported(const ZipEntry& entry, std::uint16_t flags, std::uint16_t method, const std::string& source_name,
                       const DataLimits& limits) {
  std::string name = quoted(entry.name);
  if ((flags & (zip::flag_encrypted | zip::flag_strong_encryption | zip::flag_masked)) != 0) {
    throw wrong_data(Code::data_malformed, source_name + " has the encrypted entry " + name);
  }
  if ((flags & zip::flag_patched) != 0 || (method != zip::stored && method != zip::deflated)) {
    throw wrong_data(Code::data_malformed, source_name + ": the entry " + name + " is compressed with method " +
                                               std::to_string(method) +
                                               "; only stored (0) and deflate (8) are supported");
  }
  if (method == zip::stored && entry.size != entry.packed_size) {
    throw zip::malformed(source_name, "the stored entry " + name + " has two sizes, " + std::to_string(entry.size) +
                                          " and " + std::to_string(entry.packed_size));
  }
  if (entry.size > (1 << 20) && entry.size / limits.ratio >= std::max<std::uint64_t>(entry.packed_size, 1)) {
    throw wrong_data(Code::data_limit,
                     source_name + " has the entry " + name + " that unpacks from " +
                         plural(entry.packed_size, "byte") + " to " + std::to_string(entry.size) + ", more than " +
                         std::to_string(limits.ratio) + " times as many",
                     "if this is intended, store the array without compression");
  }
}

// The local header must agree; its sizes are ignored. Returns where the data begins.
std::uint64_t data_begin(Bytes bytes, std::uint64_t header, std::uint64_t limit, const ZipEntry& entry,
                         const std::string& source_name) {
  std::string name = quoted(entry.name);
  if (header > limit || limit - header < zip::local_size || u32(bytes, header) != zip::local_signature) {
    throw zip::malformed(source_name, "the entry " + name + " is not at byte " + std::to_string(header) +
                                          ", where the directory places it");
  }
  std::uint64_t begin = header + zip::local_size + u16(bytes, header + 26) + u16(bytes, header + 28);
  std::string_view local(reinterpret_cast<const char*>(bytes.data()) + header + zip::local_size,
                         std::min<std::uint64_t>(u16(bytes, header + 26), limit - header - zip::local_size));
  if (local != entry.name)
    throw zip::malformed(source_name, "the entry " + name + " is called " + quoted(local) + " in its own header");
  if (u16(bytes, header + 8) != (entry.deflated ? zip::deflated : zip::stored)) {
    throw zip::malformed(source_name, "the entry " + name + " has two methods");
  }
  if (begin > limit || entry.packed_size > limit - begin) {
    throw zip::malformed(source_name, "the entry " + name + " is truncated: it needs " +
                                          plural(entry.packed_size, "byte") + ", but only " +
                                          std::to_string(begin > limit ? 0 : limit - begin) +
                                          " remain before the directory");
  }
  return begin;
}

void require_disjoint(const std::vector<ZipEntry>& entries, const std::string& source_name) {
  std::vector<const ZipEntry*> sorted;
  for (const ZipEntry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) {
    return std::pair(a->data_offset, a->packed_size) < std::pair(b->data_offset, b->packed_size);
  });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i]->data_offset < sorted[i - 1]->data_offset + sorted[i - 1]->packed_size) {
      throw zip::malformed(
          source_name, "the entries " + quoted(sorted[i - 1]->name) + " and " + quoted(sorted[i]->name) + " overlap");
    }
  }
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(Bytes bytes, const std::string& source_name, const DataLimits& limits) {
  Directory directory = read_end(bytes, source_name);
  if (directory.count > limits.entries) {
    throw wrong_data(Code::data_limit, source_name + " has " + plural(directory.count, "entry") + ", and at most " +
                                           std::to_string(limits.entries) + " are allowed");
  }
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  std::uint64_t at = directory.offset, end = directory.offset + directory.size, total = 0;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (end - at < zip::central_size || u32(bytes, at) != zip::central_signature) {
      throw zip::malformed(source_name, "its directory ends after " + std::to_string(i) + " of " +
                                            std::to_string(directory.count) + " entries");
    }
    std::size_t name_size = u16(bytes, at + 28), extra_size = u16(bytes, at + 30), comment_size = u16(bytes, at + 32);
    if (end - at - zip::central_size < name_size + extra_size + comment_size) {
      throw zip::malformed(source_name, "entry " + std::to_string(i) + " of its directory is truncated");
    }
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char*>(bytes.data()) + at + zip::central_size, name_size);
    std::uint16_t flags = u16(bytes, at + 8), method = u16(bytes, at + 10);
    entry.deflated = method == zip::deflated;
    entry.crc = u32(bytes, at + 16);
    entry.packed_size = u32(bytes, at + 20);
    entry.size = u32(bytes, at + 24);
    std::uint64_t header = u32(bytes, at + 42);
    read_zip64(bytes.subspan(at + zip::central_size + name_size, extra_size), entry, header, source_name);
    require_harmless(entry.name, source_name);
    require_supported(entry, flags, method, source_name, limits);
    if (entry.size > limits.bytes - total) {
      throw resource_failure(Code::data_limit,
                             source_name + " unpacks to more than the allowed " + plural(limits.bytes, "byte"));
    }
    total += entry.size;
    entry.data_offset = data_begin(bytes, header, directory.offset, entry, source_name);
    if (!names.insert(entry.name).second) {
      throw wrong_data(Code::data_malformed, source_name + " has the entry " + quoted(entry.name) + " twice");
    }
    entries.push_back(std::move(entry));
    at += zip::central_size + name_size + extra_size + comment_size;
  }
  if (at != end)
    throw zip::malformed(source_name, plural(end - at, "byte") + " follow the last entry of its directory");
  require_disjoint(entries, source_name);
  return entries;
}

}  // namespace tap
