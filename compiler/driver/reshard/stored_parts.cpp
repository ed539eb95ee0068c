#include "compiler/driver/reshard/stored_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "compiler/driver/reshard/part_files.h"
#include "ir/blocks.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "ir/text/parse_line.h"
#include "runtime/failure.h"
#include "runtime/limits.h"
#include "runtime/tensors/tensor_file.h"
#include "support/checked.h"

namespace tap::driver {
namespace {

constexpr DataLimits limits{.bytes = std::uint64_t{1} << 62};

std::string called(const PartedTensors& all, const StoredPart& part) {
  const std::string file = quoted(all.files[part.file].path());
  return part.cells.name.empty() ? file : quoted(part.cells.name) + " in " + file;
}
std::string called(const PartedTensor& tensor) { return tensor.name.empty() ? "the tensor" : quoted(tensor.name); }

struct BoxedName {
  std::string name;
  ir::Box box;
};
// Y[0..3, 0..4]; nothing if the name does not end with a box.
std::optional<BoxedName> boxed_name(const std::string& text) {
  const std::size_t bracket = text.rfind('[');
  if (bracket == text.npos || bracket == 0) return std::nullopt;
  ir::Line line(std::string_view(text).substr(bracket), 1);
  BoxedName made{text.substr(0, bracket), {}};
  try {
    made.box.dims = line.list("[", "]", [&] { return line.range(); });
    line.expect_end();
  } catch (const ir::TextFailure&) { return std::nullopt; }
  return made;
}

PartedTensor& tensor_named(PartedTensors& all, const std::string& name, ElementType type) {
  for (PartedTensor& tensor : all.tensors)
    if (tensor.name == name) return tensor;
  return all.tensors.emplace_back(PartedTensor{name, type, {}, {}, {}});
}

void add_part(PartedTensors& all, const std::string& name, StoredPart part) {
  PartedTensor& tensor = tensor_named(all, name, part.cells.packing.type);
  if (tensor.type != part.cells.packing.type)
    throw wrong_data(Code::data_type,
                     fmt::format("{} is {}, but {} is {}", called(all, tensor.parts.front()), name_of(tensor.type),
                                 called(all, part), name_of(part.cells.packing.type)));
  if (!tensor.parts.empty() && tensor.parts.front().cells.shape.size() != part.cells.shape.size())
    throw wrong_data(Code::data_shape, fmt::format("{} has {}, but {} has {}", called(all, tensor.parts.front()),
                                                   plural(tensor.parts.front().cells.shape.size(), "axis", "axes"),
                                                   called(all, part), plural(part.cells.shape.size(), "axis", "axes")));
  tensor.parts.push_back(std::move(part));
}

// By the names of the tensors, one part after another.
void add_named_parts(PartedTensors& all, std::size_t file, const std::string& entry) {
  for (const StoredTensor& cells : all.files[file].tensors()) {
    std::optional<BoxedName> boxed = boxed_name(cells.name);
    const std::string name = boxed ? boxed->name : cells.name;
    if (!entry.empty() && name != entry) continue;
    StoredPart part{boxed ? boxed->box : ir::Box::of_shape(cells.shape), file, cells};
    bool fits = part.box.rank() == cells.shape.size();
    for (std::size_t d = 0; fits && d < cells.shape.size(); ++d) {
      const ir::Range range = part.box.dims[d];
      fits = range.lo >= 0 && range.lo <= range.hi && range.hi - range.lo == cells.shape[d];
    }
    if (!fits)
      throw wrong_data(Code::data_shape, fmt::format("{} is {}, but its name gives a box of another shape",
                                                     called(all, part), describe(cells.packing.type, cells.shape)));
    add_part(all, name, std::move(part));
  }
}

// One part in each file, in the order of devices; their boxes follow from the sharding when all are there.
void add_unnamed_parts(PartedTensors& all, std::size_t file, const std::string& entry) {
  for (const StoredTensor& cells : all.files[file].tensors())
    if (entry.empty() || cells.name == entry) add_part(all, cells.name, {{}, file, cells});
}

std::int64_t number_on(const ir::Mesh& mesh, const ir::Axes& axes, std::int64_t index) {
  const std::vector<std::int64_t> position = ir::position_of(mesh, index);
  std::int64_t number = 0;
  for (const ir::AxisRef& axis : axes) number = number * ir::size_of(mesh, axis) + ir::coordinate(mesh, position, axis);
  return number;
}

// The size of an axis is the sum of its blocks.
std::int64_t whole_extent(const PartedTensor& tensor, const DividedBy& by, std::size_t axis) {
  const ir::Axes& axes = by.sharding->dims[axis].axes;
  std::vector<std::int64_t> blocks(static_cast<std::size_t>(ir::size_of(*by.mesh, axes)), -1);
  std::int64_t sum = 0;
  for (std::int64_t index = 0; index < ir::device_count(*by.mesh); ++index) {
    std::int64_t& block = blocks[static_cast<std::size_t>(number_on(*by.mesh, axes, index))];
    if (block >= 0) continue;
    block = tensor.parts[static_cast<std::size_t>(ir::device_at(*by.mesh, index))].cells.shape[axis];
    sum = checked::add(sum, block);
  }
  return sum;
}

void require_rank(const PartedTensor& tensor, const DividedBy& by) {
  const std::size_t rank = tensor.parts.front().cells.shape.size();
  if (by.sharding->dims.size() != rank)
    throw wrong_command(
        Code::sharding_rank,
        fmt::format("`--from` divides {}, but {} has {}", plural(by.sharding->dims.size(), "axis", "axes"),
                    called(tensor), plural(rank, "axis", "axes")),
        "write one `{…}` for each axis of the tensor");
}

void place_unnamed_parts(const PartedTensors& all, PartedTensor& tensor, const DividedBy& by) {
  require_rank(tensor, by);
  const std::int64_t devices = ir::device_count(*by.mesh);
  if (static_cast<std::int64_t>(tensor.parts.size()) != devices)
    throw wrong_data(Code::data_missing,
                     fmt::format("the mesh `{}` has {}, but {} has {}", by.mesh->name, plural(devices, "device"),
                                 called(tensor), plural(tensor.parts.size(), "part")),
                     "give one file for each device, in the order of the devices");
  for (std::size_t axis = 0; axis < by.sharding->dims.size(); ++axis) {
    try {
      tensor.shape.push_back(whole_extent(tensor, by, axis));
    } catch (const Overflow&) {
      throw wrong_data(Code::data_shape, called(tensor) + " has an axis whose size does not fit in 64 bits");
    }
  }
  for (std::int64_t index = 0; index < devices; ++index) {
    StoredPart& part = tensor.parts[static_cast<std::size_t>(ir::device_at(*by.mesh, index))];
    part.box = ir::box_at(*by.mesh, *by.sharding, tensor.shape, index);
    if (part.box.shape() == part.cells.shape) continue;
    throw wrong_data(
        Code::data_shape,
        fmt::format("{} has the shape {}; expected {}, as device {} holds {} of {}", called(all, part),
                    to_string(part.cells.shape), to_string(part.box.shape()), ir::device_at(*by.mesh, index),
                    ir::to_string(part.box), describe(tensor.type, tensor.shape)),
        "blocks of an axis have the same size; only the last ones may be smaller");
  }
}

// The size of an axis is the end of its last part.
void measure_named_parts(PartedTensor& tensor) {
  tensor.shape.assign(tensor.parts.front().box.rank(), 0);
  for (const StoredPart& part : tensor.parts)
    for (std::size_t d = 0; d < tensor.shape.size(); ++d)
      tensor.shape[d] = std::max(tensor.shape[d], part.box.dims[d].hi);
}

// Named parts must be those of `--from`, if it is given.
void require_boxes_of(const PartedTensors& all, const PartedTensor& tensor, const DividedBy& by) {
  require_rank(tensor, by);
  for (const StoredPart& part : tensor.parts) {
    bool known = false;
    for (std::int64_t index = 0; !known && index < ir::device_count(*by.mesh); ++index)
      known = ir::box_at(*by.mesh, *by.sharding, tensor.shape, index) == part.box;
    if (!known)
      throw wrong_data(Code::data_shape,
                       fmt::format("{} is not a part of {} under the sharding of `--from`", called(all, part),
                                   describe(tensor.type, tensor.shape)),
                       "leave out `--from`: the names of the parts say where they lie");
  }
}

// Separates boxes that occur again, and proves that the others partition the tensor.
void require_partition(const PartedTensors& all, PartedTensor& tensor) {
  checked_byte_size(tensor.type, tensor.shape, called(tensor), limits);
  std::vector<StoredPart> parts = std::move(tensor.parts);
  tensor.parts.clear();
  auto begin = [](const ir::Box& box) {
    std::vector<std::int64_t> at;
    for (const ir::Range& range : box.dims) at.push_back(range.lo), at.push_back(range.hi);
    return at;
  };
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const StoredPart& a, const StoredPart& b) { return begin(a.box) < begin(b.box); });
  std::vector<ir::Box> left{ir::Box::of_shape(tensor.shape)};
  for (StoredPart& part : parts) {
    if (!tensor.parts.empty() && tensor.parts.back().box == part.box) {
      tensor.repeated.push_back(std::move(part));
      continue;
    }
    std::vector<ir::Box> next;
    std::int64_t taken = 0;
    for (const ir::Box& box : left) {
      const ir::Box common = ir::intersect(box, part.box);
      if (common.empty()) {
        next.push_back(box);
        continue;
      }
      taken += common.size();
      for (ir::Box& rest : ir::subtract(box, part.box)) next.push_back(std::move(rest));
    }
    if (taken != part.box.size())
      for (const StoredPart& other : tensor.parts)
        if (!ir::disjoint(other.box, part.box))
          throw wrong_data(Code::data_shape, fmt::format("{} and {} overlap", called(all, other), called(all, part)),
                           "two parts must hold the same box, or have no cell in common");
    left = std::move(next);
    tensor.parts.push_back(std::move(part));
  }
  for (const ir::Box& gap : left)
    if (!gap.empty())
      throw wrong_data(Code::data_missing,
                       fmt::format("no part of {} contains the cells {}", called(tensor), ir::to_string(gap)),
                       "give all parts of the tensor");
}

std::vector<std::string> files_of(const std::string& path, const DividedBy& by) {
  std::error_code unknown;
  const bool is_there = std::filesystem::exists(path, unknown) || unknown;
  if (divides(by) || !is_there) {
    std::vector<std::string> parts = find_parts(path);
    if (!parts.empty()) return parts;
    if (divides(by))
      throw wrong_data(Code::data_missing,
                       fmt::format("there are no parts of {}, such as {}", quoted(path),
                                   quoted(part_file(path, 1, ir::device_count(*by.mesh)))),
                       is_there ? quoted(path) + " holds the whole tensor: leave out `--from`" : "");
  }
  return {path};
}

}  // namespace

bool divides(const DividedBy& by) {
  return by.sharding && std::any_of(by.sharding->dims.begin(), by.sharding->dims.end(),
                                    [&](const ir::DimSharding& d) { return ir::size_of(*by.mesh, d.axes) > 1; });
}

PartedTensors open_parts(const std::string& path, const std::string& entry, const DividedBy& by) {
  PartedTensors all;
  const std::vector<std::string> paths = files_of(path, by);
  const bool is_set = paths.size() > 1 || paths.front() != path;
  for (const std::string& file : paths) all.files.emplace_back(file);
  auto names_box = [](const StoredTensor& tensor) { return boxed_name(tensor.name).has_value(); };
  const std::vector<StoredTensor>& first = all.files.front().tensors();
  const bool named = std::any_of(all.files.begin(), all.files.end(), [&](const StoredFile& file) {
    return std::any_of(file.tensors().begin(), file.tensors().end(), names_box);
  });
  if (!is_set && named && whole_of_part(path))
    throw wrong_command(Code::data_spec, quoted(path) + " holds parts of tensors",
                        "give the name of the parts without their numbers: " + quoted(*whole_of_part(path)));
  const bool numbered = is_set && !named && by.sharding;
  if (is_set && !by.sharding && *format_of(path) == FileFormat::npy)
    throw wrong_command(Code::data_spec,
                        fmt::format("{} holds a part of a tensor, but does not say which part", quoted(paths.front())),
                        "give its sharding, as in --from 'pod[{data}, {}]' --mesh 'pod = [data: 4]'");
  for (std::size_t file = 0; file < all.files.size(); ++file)
    numbered ? add_unnamed_parts(all, file, entry) : add_named_parts(all, file, entry);
  if (all.tensors.empty())
    throw wrong_data(Code::data_missing,
                     quoted(paths.front()) + (entry.empty() ? " has no tensor" : " has no tensor " + quoted(entry)),
                     first.empty() ? "" : "it has " + quoted(first.front().name));
  for (PartedTensor& tensor : all.tensors) {
    numbered ? place_unnamed_parts(all, tensor, by) : measure_named_parts(tensor);
    require_partition(all, tensor);
    if (!numbered && by.sharding && divides(by)) require_boxes_of(all, tensor, by);
  }
  return all;
}

}  // namespace tap::driver
