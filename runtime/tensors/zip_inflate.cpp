// The data of a zip entry: decompressed if necessary, and verified by its checksum.
#include <zlib.h>

#include <algorithm>
#include <new>

#include "runtime/failure.h"
#include "runtime/tensors/npz.h"
#include "runtime/tensors/zip_layout.h"

namespace tap {
namespace {

using Bytes = std::span<const std::byte>;

void inflate_into(std::byte* to, std::uint64_t size, Bytes packed, const ZipEntry& entry,
                  const std::string& source_name) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  struct Closer {
    z_stream& stream;
    ~Closer() { inflateEnd(&stream); }
  } closer{stream};
  // zlib counts in 32 bits, so input and output are passed in portions. One spare byte detects data beyond the size.
  std::uint64_t in = 0, out = 0;
  Bytef spare = 0;
  bool used_spare = false;
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.avail_in == 0) {
      stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data() + in));
      stream.avail_in = static_cast<uInt>(std::min<std::uint64_t>(packed.size() - in, 1u << 30));
      in += stream.avail_in;
    }
    if (stream.avail_out == 0) {
      if (used_spare) break;
      used_spare = out == size;
      stream.next_out = used_spare ? &spare : reinterpret_cast<Bytef*>(to + out);
      stream.avail_out = used_spare ? 1 : static_cast<uInt>(std::min<std::uint64_t>(size - out, 1u << 30));
      if (!used_spare) out += stream.avail_out;
    }
    status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_BUF_ERROR && (stream.avail_out == 0 || in < packed.size())) status = Z_OK;
  }
  std::uint64_t produced = used_spare ? size + (1 - stream.avail_out) : out - stream.avail_out;
  bool consumed = stream.avail_in == 0 && in == packed.size();
  if (status == Z_STREAM_END && produced == size && consumed) return;
  std::string name = quoted(entry.name);
  if (status == Z_STREAM_END && consumed) {
    throw zip::malformed(source_name, "the entry " + name + " unpacks to " + plural(produced, "byte") + ", expected " +
                                          std::to_string(size));
  }
  if (status == Z_OK)
    throw zip::malformed(source_name, "the entry " + name + " unpacks to more than its " + plural(size, "byte"));
  throw zip::malformed(source_name, "the packed data of the entry " + name + " are damaged");
}

std::uint32_t checksum(Bytes bytes) {
  uLong crc = crc32(0, nullptr, 0);
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t portion = std::min<std::size_t>(bytes.size() - at, 1u << 30);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data() + at), static_cast<uInt>(portion));
    at += portion;
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace

SharedBytes read_zip_entry(const SharedBytes& bytes, const ZipEntry& entry, const std::string& source_name) {
  SharedBytes data = bytes.slice(entry.data_offset, entry.packed_size);
  if (entry.deflated) {
    std::shared_ptr<std::byte> memory;
    try {
      memory = aligned_bytes(entry.size);
      inflate_into(memory.get(), entry.size, data.span(), entry, source_name);
    } catch (const std::bad_alloc&) {
      throw resource_failure(Code::out_of_memory, source_name + ": the " + plural(entry.size, "byte") +
                                                      " of the entry " + quoted(entry.name) + " do not fit in memory");
    }
    data = {std::move(memory), static_cast<std::size_t>(entry.size)};
  }
  if (checksum(data.span()) != entry.crc) {
    throw zip::malformed(source_name, "the checksum of the entry " + quoted(entry.name) + " is wrong");
  }
  return data;
}

}  // namespace tap
