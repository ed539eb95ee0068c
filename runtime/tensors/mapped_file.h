// Reads a regular file completely. Small files are read into memory; files of 1 MiB and more are mapped, so that
// tensors can use the data in place.
//
// Another process may truncate a file while it is mapped; an access to the lost pages, possibly in generated code,
// then raises SIGBUS. A handler knows all our mappings (a lock-free table): on a fault inside one it maps a page of
// zeros, marks the mapping as broken, and the program continues. The results are then invalid, so the user of the
// data must call `require_intact` before publishing a result: a broken mapping, or a changed size or time of the
// file, is exit 3. Faults outside our mappings get the default action.
//
//   MappedFile file = MappedFile::open("x.npy");
//   Tensor x = parse_npy(file.bytes(), "x.npy");
//   …
//   file.require_intact();
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/shared_bytes.h"
#include "support/diagnostic.h"

namespace tap {

class MappedFile {
 public:
  static constexpr std::uint64_t read_below = 1 << 20;

  // Throws Failure: missing, unreadable, or anything but a regular file (exit 4); shrank while it was read (exit 3).
  // Never waits for a FIFO and never opens a device.
  static MappedFile open(const std::string& path, std::uint64_t map_from = read_below);

  const std::string& path() const;
  const SharedBytes& bytes() const;
  bool is_mapped() const;

  // Whether the bytes are still those that were opened, judging by size and modification time. A file that was
  // removed or replaced by another is intact: the mapping keeps the old one.
  bool intact() const;
  void require_intact() const;  // throws Failure, exit 3

 private:
  struct State;
  explicit MappedFile(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// A descriptor for reading, and the failure of it. Throws Failure, as `MappedFile::open` does; the caller closes it.
int open_regular(const std::string& path);
Failure cannot_read(const std::string& path, const std::string& why);

// Whether two paths lead to one file, through symbolic and hard links. False if one of them does not exist.
bool same_file(const std::string& a, const std::string& b);

}  // namespace tap
