// NumPy's .npz archives: a zip file whose entries are .npy files. Read strictly, by the central directory: stored or
// deflated entries, ZIP64 and data descriptors are supported; encryption, other methods, several disks, duplicate
// names, names that would leave a folder (`../x`, `/x`), overlapping entries and zip bombs (an entry above 1 MiB that
// unpacks to more than 1000 times its size, or sizes beyond the limit) are rejected. Names are never used as paths.
// Checksums are verified.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/limits.h"
#include "runtime/shared_bytes.h"
#include "runtime/tensors/content.h"

namespace tap {

struct ZipEntry {
  std::string name;  // as in the archive: `w.npy`
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t data_offset = 0;
};

// All throw Failure. `source_name` names the archive in messages, already quoted.
std::vector<ZipEntry> read_zip_directory(std::span<const std::byte> bytes, const std::string& source_name,
                                         const DataLimits& limits);
SharedBytes read_zip_entry(const SharedBytes& bytes, const ZipEntry& entry, const std::string& source_name);

class NpzFile {
 public:
  NpzFile(SharedBytes bytes, std::string source_name, const DataLimits& limits = {});

  std::vector<std::string> names() const;  // without `.npy`, in the archive's order
  bool has(std::string_view name) const;
  Tensor load(std::string_view name) const;  // Pre: has(name)

 private:
  SharedBytes bytes_;
  std::string source_name_;
  DataLimits limits_;
  std::vector<ZipEntry> entries_;
};

// Entries are stored, in the given order, each array's data at a multiple of 64 bytes so that a reader can map it. The
// same tensors give the same bytes.
Content encode_npz(const std::vector<NamedTensor>& tensors);

}  // namespace tap
