#include "compiler/driver/reshard/reshard_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "compiler/driver/runnable.h"
#include "runtime/failure.h"
#include "runtime/tensors/npy.h"
#include "runtime/tensors/safetensors.h"
#include "runtime/tensors/tensor_file.h"

namespace tap::driver {
namespace {

// A part in a file that is being written.
struct PlacedPart {
  const WrittenPart* part = nullptr;
  std::size_t file = 0;
  std::uint64_t offset = 0;
};

// The same cells, counted from the beginning of `in`.
TensorPart within(const ir::Box& box, const ir::Box& in) {
  TensorPart part = part_of(box);
  for (std::size_t d = 0; d < in.rank(); ++d) part.begin[d] -= in.dims[d].lo;
  return part;
}

// A tensor that has a type and a shape, but no memory: its address is only a number.
Tensor without_memory(ElementType type, Shape shape, std::size_t number) {
  const auto* address = reinterpret_cast<const std::byte*>(number);
  return {type, std::move(shape), std::shared_ptr<const std::byte>(std::shared_ptr<const std::byte>(), address)};
}

// The file without its cells; notes where each part lies.
OutputFile planned(const PartedTensors& from, const WrittenFile& file, std::size_t number,
                   std::vector<PlacedPart>& placed) {
  OutputFile made{file.path, {}};
  Content content;
  if (*format_of(file.path) == FileFormat::npy) {
    const WrittenPart& part = file.parts.at(0);
    const ElementType type = from.tensors[part.tensor].type;
    content = {npy_header(type, part.box.shape()), without_memory(type, part.box.shape(), 0)};
  } else {
    std::vector<NamedTensor> inside;
    for (std::size_t k = 0; k < file.parts.size(); ++k)
      inside.push_back(
          {file.parts[k].name, without_memory(from.tensors[file.parts[k].tensor].type, file.parts[k].box.shape(), k)});
    content = encode_safetensors(inside);
  }
  for (auto& piece : content) {
    const std::uint64_t bytes = bytes_of(piece).size();
    if (const auto* tensor = std::get_if<Tensor>(&piece))
      placed.push_back({&file.parts[reinterpret_cast<std::size_t>(tensor->data())], number, made.bytes});
    else made.content.push_back(std::move(piece));
    made.bytes += bytes;
  }
  return made;
}

class Writer {
 public:
  Writer(const std::vector<WrittenFile>& files, const std::vector<std::string>& temporaries)
      : files_(files), temporaries_(temporaries) {}

  // No descriptor stays open, since there may be thousands of files.
  void write(std::size_t file, std::uint64_t at, const Tensor& cells) const {
    const int descriptor = open(file);
    const std::byte* from = cells.data();
    std::size_t left = cells.byte_size();
    int error = 0;
    while (left > 0 && error == 0) {
      const ssize_t written = ::pwrite(descriptor, from, left, static_cast<off_t>(at));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        error = written < 0 ? errno : ENOSPC;
        break;
      }
      from += written;
      at += static_cast<std::uint64_t>(written);
      left -= static_cast<std::size_t>(written);
    }
    close(descriptor, file, error);
  }

  void sync() const {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      const int descriptor = open(file);
      const bool done = ::fsync(descriptor) == 0 || errno == EINVAL;
      close(descriptor, file, done ? 0 : errno);
    }
  }

 private:
  int open(std::size_t file) const {
    const int descriptor = ::open(temporaries_[file].c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) throw cannot_write(file, errno);
    return descriptor;
  }
  void close(int descriptor, std::size_t file, int error) const {
    if (::close(descriptor) != 0 && error == 0) error = errno;
    if (error != 0) throw cannot_write(file, error);
  }
  Failure cannot_write(std::size_t file, int error) const {
    return resource_failure(Code::cannot_write,
                            quoted(files_[file].path) + " cannot be written: " + system_reason(error));
  }

  const std::vector<WrittenFile>& files_;
  const std::vector<std::string>& temporaries_;
};

Tensor read_part(const PartedTensors& from, const StoredPart& part, const ir::Box& box) {
  return from.files[part.file].read(part.cells, within(box, part.box));
}

void require_equal(const PartedTensors& from, const PartedTensor& tensor, const StoredPart& again, const ir::Box& box,
                   const Tensor& expected) {
  const Tensor found = read_part(from, again, box);
  if (found.byte_size() == 0 || std::memcmp(found.data(), expected.data(), found.byte_size()) == 0) return;
  const auto first = std::find_if(tensor.parts.begin(), tensor.parts.end(),
                                  [&](const StoredPart& part) { return part.box == again.box; });
  throw wrong_data(Code::data_malformed, fmt::format("{} and {} hold the same part, {}, with different cells",
                                                     quoted(from.files[first->file].path()),
                                                     quoted(from.files[again.file].path()), ir::to_string(again.box)));
}

// The cells of a slab, from all parts.
Tensor gathered(const PartedTensors& from, const PartedTensor& tensor, const ir::Box& slab) {
  Tensor cells(tensor.type, slab.shape());
  for (const StoredPart& part : tensor.parts) {
    const ir::Box common = ir::intersect(part.box, slab);
    if (!common.empty()) paste(cells, within(common, slab), read_part(from, part, common));
  }
  for (const StoredPart& again : tensor.repeated) {
    const ir::Box common = ir::intersect(again.box, slab);
    if (!common.empty()) require_equal(from, tensor, again, common, cut(cells, within(common, slab)));
  }
  return cells;
}

void copy_cells(const PartedTensors& from, const std::vector<PlacedPart>& placed, const Writer& writer,
                std::int64_t bytes_of_slab) {
  for (std::size_t t = 0; t < from.tensors.size(); ++t) {
    const PartedTensor& tensor = from.tensors[t];
    const auto size = static_cast<std::int64_t>(size_of(tensor.type));
    for_each_slab(tensor.shape, bytes_of_slab / size, [&](const ir::Box& slab) {
      const Tensor cells = gathered(from, tensor, slab);
      for (const PlacedPart& to : placed) {
        if (to.part->tensor != t) continue;
        const ir::Box common = ir::intersect(to.part->box, slab);
        if (common.empty()) continue;
        // In the file, the cells of the slab follow one another.
        const TensorPart at = within(common, to.part->box);
        const std::vector<std::int64_t> strides = row_major_strides(to.part->box.shape());
        std::int64_t before = 0;
        for (std::size_t d = 0; d < strides.size(); ++d) before += at.begin[d] * strides[d];
        writer.write(to.file, to.offset + static_cast<std::uint64_t>(before * size), cut(cells, within(common, slab)));
      }
    });
  }
}

}  // namespace

void for_each_slab(const Shape& shape, std::int64_t most, const std::function<void(const ir::Box&)>& each) {
  ir::Box slab = ir::Box::of_shape(shape);
  if (slab.empty()) return;
  std::size_t axis = 0;  // the outermost one whose inner cells fit
  std::int64_t inner = element_count(shape);
  while (axis < shape.size() && (inner /= shape[axis]) > most) ++axis;
  if (axis == shape.size()) return each(slab);
  const std::int64_t step = std::max<std::int64_t>(most / inner, 1);
  for (std::size_t d = 0; d < axis; ++d) slab.dims[d] = {0, 1};
  while (true) {
    for (std::int64_t lo = 0; lo < shape[axis]; lo += step) {
      slab.dims[axis] = {lo, std::min(lo + step, shape[axis])};
      each(slab);
    }
    std::size_t d = axis;
    for (; d > 0; --d) {
      const std::int64_t next = slab.dims[d - 1].hi;
      slab.dims[d - 1] = next < shape[d - 1] ? ir::Range{next, next + 1} : ir::Range{0, 1};
      if (next < shape[d - 1]) break;
    }
    if (d == 0) return;
  }
}

void write_resharded(const PartedTensors& from, const std::vector<WrittenFile>& files, std::int64_t bytes_of_slab) {
  std::vector<OutputFile> outputs;
  std::vector<PlacedPart> placed;
  for (std::size_t f = 0; f < files.size(); ++f) outputs.push_back(planned(from, files[f], f, placed));
  write_files(outputs, [&](const std::vector<std::string>& temporaries) {
    const Writer writer(files, temporaries);
    copy_cells(from, placed, writer, bytes_of_slab);
    writer.sync();
    return std::vector<HandedFile>();
  });
}

}  // namespace tap::driver
