// Reading a regular file whole. Small files are read into memory; files of 1 MiB and more are mapped, so that a tensor
// can be used where it lies.
//
// Another process may cut a file short while it is mapped, and touching the lost pages would raise SIGBUS anywhere, also
// in generated code. A handler therefore knows all our mappings (a lock-free table): a fault inside one puts a page of
// zeros there, marks the mapping as broken, and the program goes on. What it computed is then worthless, so whoever used
// the data asks `require_intact` before it publishes a result: broken, or the file's size or time has changed, is exit 3.
// Faults outside our mappings are left to the system's default.
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

  // Whether the bytes are still those that were opened, as far as size and modification time can tell. A file that was
  // removed or replaced by another is intact: the mapping keeps the old one.
  bool intact() const;
  void require_intact() const;  // throws Failure, exit 3

 private:
  struct State;
  explicit MappedFile(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Whether two paths lead to one file, through symbolic and hard links. False where one of them does not exist.
bool same_file(const std::string& a, const std::string& b);

}  // namespace tap
