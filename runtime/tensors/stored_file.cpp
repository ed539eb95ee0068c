#include "runtime/tensors/stored_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "runtime/failure.h"
#include "runtime/tensors/mapped_file.h"
#include "runtime/tensors/npy.h"
#include "runtime/tensors/safetensors.h"
#include "runtime/tensors/tensor_file.h"

namespace tap {
namespace {

constexpr std::uint64_t longest_npy_header = 1 << 20;
// Tensors are not in memory as a whole: only what a file can state is limited.
constexpr DataLimits limits{.bytes = std::numeric_limits<std::int64_t>::max()};

}  // namespace

// A descriptor of the file while it is read.
class StoredFile::Opened {
 public:
  explicit Opened(const std::string& path) : path_(path), descriptor_(open_regular(path)) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { ::close(descriptor_); }

  Identity identity() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) throw cannot_read(path_, system_reason(errno));
    return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec};
  }

  void read(std::uint64_t at, std::byte* to, std::uint64_t count) const {
    while (count > 0) {
      const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw cannot_read(path_, system_reason(errno));
      if (got == 0) throw changed();
      to += got;
      at += static_cast<std::uint64_t>(got);
      count -= static_cast<std::uint64_t>(got);
    }
  }

  SharedBytes start(std::uint64_t count) const {
    count = std::min(count, identity().size);
    auto memory = aligned_bytes(count);
    read(0, memory.get(), count);
    return {std::move(memory), count};
  }

  Failure changed() const {
    return wrong_data(Code::data_changed, quoted(path_) + " changed while in use; nothing was written",
                      "run again while nothing writes to the file");
  }

 private:
  const std::string& path_;
  int descriptor_;
};

StoredFile::StoredFile(std::string path) : path_(std::move(path)) {
  const Opened file(path_);
  identity_ = file.identity();
  switch (*format_of(path_)) {
    case FileFormat::npy: read_npy_head(file); break;
    case FileFormat::safetensors: read_safetensors_head(file); break;
    case FileFormat::npz:
      throw wrong_command(Code::data_spec, quoted(path_) + " is an archive, whose tensors cannot be read in pieces",
                          "store the tensor as .npy or .safetensors");
  }
}

void StoredFile::read_npy_head(const Opened& file) {
  const std::string source = quoted(path_);
  SharedBytes head = file.start(npy_preamble);
  const std::uint64_t needed = npy_head_bytes(head.span());
  if (needed > longest_npy_header)
    throw wrong_data(Code::data_limit, source + " has a header of " + plural(needed, "byte") + ", and at most " +
                                           std::to_string(longest_npy_header) + " are allowed");
  head = file.start(needed);
  NpyHeader header = parse_npy_header(head.span(), source, limits);
  require_npy_size(header, identity_.size, source, limits);
  tensors_.push_back(
      {"", {header.type, header.big_endian, header.fortran_order}, std::move(header.shape), header.data_offset});
}

void StoredFile::read_safetensors_head(const Opened& file) {
  SharedBytes head = file.start(safetensors_preamble);
  head = file.start(safetensors_head_bytes(head.span()));
  SafetensorsLayout layout = parse_safetensors_layout(head, identity_.size, quoted(path_), limits);
  for (SafetensorsEntry& entry : layout.entries)
    tensors_.push_back({std::move(entry.name), {entry.type}, std::move(entry.shape), layout.data_offset + entry.begin});
}

Tensor StoredFile::read(const StoredTensor& tensor, const TensorPart& part) const {
  const Opened file(path_);
  if (file.identity() != identity_) throw file.changed();
  const std::size_t size = size_of(tensor.packing.type);
  const std::size_t bytes = static_cast<std::size_t>(element_count(part.shape)) * size;
  auto memory = aligned_bytes(bytes);
  Shape whole = tensor.shape;
  TensorPart stored = part;
  if (tensor.packing.fortran_order)  // row-major with its axes reversed
    for (Shape* shape : {&whole, &stored.begin, &stored.shape}) std::reverse(shape->begin(), shape->end());
  for_each_run(whole, stored, [&](const Run& run) {
    file.read(tensor.offset + static_cast<std::uint64_t>(run.in_whole) * size,
              memory.get() + static_cast<std::size_t>(run.in_part) * size, static_cast<std::size_t>(run.count) * size);
  });
  if (file.identity() != identity_) throw file.changed();
  const std::string source = tensor.name.empty() ? quoted(path_) : quoted(tensor.name) + " in " + quoted(path_);
  return unpack({std::move(memory), bytes}, tensor.packing, part.shape, source);
}

}  // namespace tap
