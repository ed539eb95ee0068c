// tapc reshard IN --from SHARDING --to SHARDING -o OUT: divides tensors in files differently, without reading them whole.
//
//   tapc reshard x.npy --to 'pod[{data}, {}]' --mesh 'pod = [data: 4]' -o x.safetensors    one file for each device
//   tapc reshard y.safetensors -o y.npy                                                    the parts of a run in one file
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/reshard/part_files.h"
#include "compiler/driver/reshard/reshard_files.h"
#include "compiler/driver/reshard/stored_parts.h"
#include "compiler/driver/reshard/written_shardings.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "runtime/distribution.h"
#include "runtime/failure.h"
#include "runtime/tensors/mapped_file.h"
#include "runtime/tensors/npy.h"
#include "runtime/tensors/tensor_file.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct ReshardOptions {
  std::string in, out, from, to;
  std::vector<std::string> meshes;
  std::int64_t processes = 0;  // 0: a file for each device
};

// FILE or FILE:NAME
struct TensorPath {
  std::string path, name;
};
TensorPath tensor_path(const std::string& text) {
  TensorPath made{text, ""};
  const std::size_t colon = text.rfind(':');
  if (!format_of(text) && colon != text.npos) made = {text.substr(0, colon), text.substr(colon + 1)};
  const auto format = format_of(made.path);
  if (!format || *format == FileFormat::npz || made.path.find('\0') != text.npos)
    throw wrong_command(Code::data_spec, quoted(text) + " is not a tensor file that can be read and written in pieces",
                        "its name must end in .npy or .safetensors");
  if (*format == FileFormat::npy && made.path != text)
    throw wrong_command(Code::data_spec, quoted(text) + ": the tensor of a .npy file has no name",
                        "write " + quoted(made.path));
  return made;
}

// For a tensor without a name: that of the file.
std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

struct Division {
  ir::Mesh mesh;
  ir::Sharding sharding;
  DividedBy view() const { return {&mesh, &sharding}; }
};

std::optional<Division> division(Session& session, const std::string& option, const std::string& text,
                                 const std::vector<ir::Mesh>& meshes) {
  if (text.empty()) return std::nullopt;
  ir::Sharding sharding = written_sharding(session, option, text, meshes);
  return Division{meshes[sharding.mesh.index()], std::move(sharding)};
}

void require_rank(const PartedTensor& tensor, const Division& to) {
  if (to.sharding.dims.size() == tensor.shape.size()) return;
  throw wrong_command(
      Code::sharding_rank,
      fmt::format("`--to` divides {}, but {} is {}", plural(to.sharding.dims.size(), "axis", "axes"),
                  tensor.name.empty() ? "the tensor" : quoted(tensor.name), describe(tensor.type, tensor.shape)),
      "write one `{…}` for each axis of the tensor");
}

void require_holds(const TensorPath& out, const PartedTensors& from, bool several_boxes) {
  if (*format_of(out.path) != FileFormat::npy) {
    if (!out.name.empty() && from.tensors.size() > 1)
      throw wrong_command(
          Code::data_spec,
          fmt::format("{} names one tensor, but there are {}", quoted(out.path + ":" + out.name), from.tensors.size()),
          "leave out the name, or give the tensor's name: FILE:NAME");
    return;
  }
  if (from.tensors.size() > 1)
    throw wrong_command(
        Code::data_spec, fmt::format("{} holds one tensor, but there are {}", quoted(out.path), from.tensors.size()),
        "choose one, such as " + quoted("FILE:" + from.tensors.front().name) + ", or write a .safetensors file");
  if (several_boxes)
    throw wrong_command(Code::data_spec, "`--processes` needs files that hold several tensors",
                        "write a .safetensors file, or a file for each device");
  if (!npy_can_hold(from.tensors.front().type))
    throw wrong_command(
        Code::data_type,
        fmt::format("{} cannot hold {}: NumPy has no such type", quoted(out.path), name_of(from.tensors.front().type)),
        "write a .safetensors file");
}

std::string name_in(const TensorPath& out, const PartedTensor& tensor) {
  if (!out.name.empty()) return out.name;
  return tensor.name.empty() ? stem_of(out.path) : tensor.name;
}

std::vector<WrittenFile> whole_files(const PartedTensors& from, const TensorPath& out) {
  WrittenFile file{out.path, {}};
  for (std::size_t t = 0; t < from.tensors.size(); ++t)
    file.parts.push_back({t, ir::Box::of_shape(from.tensors[t].shape), name_in(out, from.tensors[t])});
  return {std::move(file)};
}

// One file for each device, or for each process with all its devices. A file holds a box once.
std::vector<WrittenFile> divided_files(const PartedTensors& from, const TensorPath& out, const Division& to,
                                       std::int64_t processes) {
  const std::int64_t devices = ir::device_count(to.mesh);
  const std::int64_t count = processes == 0 ? devices : processes;
  const executor::Distribution among{0, count, devices};
  std::vector<WrittenFile> files(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) files[static_cast<std::size_t>(k)].path = part_file(out.path, k + 1, count);
  std::vector<std::int64_t> index_of(static_cast<std::size_t>(devices));
  for (std::int64_t index = 0; index < devices; ++index)
    index_of[ir::is_maximal(to.mesh) ? 0 : static_cast<std::size_t>(ir::device_at(to.mesh, index))] = index;
  for (std::size_t t = 0; t < from.tensors.size(); ++t)
    for (std::int64_t device = 0; device < devices; ++device) {
      const PartedTensor& tensor = from.tensors[t];
      std::vector<WrittenPart>& parts = files[static_cast<std::size_t>(among.rank_of(device))].parts;
      ir::Box box = ir::box_at(to.mesh, to.sharding, tensor.shape, index_of[static_cast<std::size_t>(device)]);
      std::string name = name_in(out, tensor) + ir::to_string(box);
      if (std::none_of(parts.begin(), parts.end(), [&](const WrittenPart& part) { return part.name == name; }))
        parts.push_back({t, std::move(box), std::move(name)});
    }
  return files;
}

void require_other_files(const PartedTensors& from, const std::vector<WrittenFile>& files) {
  for (const WrittenFile& file : files)
    for (const StoredFile& read : from.files)
      if (same_file(file.path, read.path()))
        throw wrong_data(Code::data_aliases,
                         quoted(file.path) + " is the same file as " + quoted(read.path()) + ", which is read",
                         "write to another file");
}

int reshard(Session& session, const ReshardOptions& options) {
  const TensorPath in = tensor_path(options.in), out = tensor_path(options.out);
  const std::vector<ir::Mesh> meshes = written_meshes(session, options.meshes);
  const std::optional<Division> from = division(session, "--from", options.from, meshes);
  const std::optional<Division> to = division(session, "--to", options.to, meshes);
  const bool divided = to && divides(to->view());
  if (options.processes > 0 && !divided)
    throw wrong_command(Code::command_line, "`--processes` needs `--to`, which divides the tensors among the processes",
                        "write for example --to 'pod[{data}, {}]' --mesh 'pod = [data: 4]'");
  Phase phase("resharding files");
  const PartedTensors tensors = open_parts(in.path, in.name, from ? from->view() : DividedBy{});
  if (to)
    for (const PartedTensor& tensor : tensors.tensors) require_rank(tensor, *to);
  require_holds(out, tensors, options.processes > 0);
  const std::vector<WrittenFile> files = divided ? divided_files(tensors, out, *to, options.processes)
                                                 : whole_files(tensors, out);
  require_other_files(tensors, files);
  write_resharded(tensors, files);
  for (const WrittenFile& file : files) session.wrote(file.path);
  return exit_code::done;
}

}  // namespace

Action declare_reshard(CLI::App& app) {
  auto options = std::make_shared<ReshardOptions>();
  app.add_option("IN", options->in,
                 "The tensors: a .npy or .safetensors file, or the name of its parts without their numbers, "
                 "IN.npy for IN-00001-of-00004.npy; FILE.safetensors:NAME is one tensor")
      ->required();
  app.add_option("-o,--output", options->out, "The file to write, or the name of its parts")->required();
  app.add_option("--from", options->from,
                 "How the parts of IN divide the tensor, such as 'pod[{data}, {}]' (default: as their names say)");
  app.add_option("--to", options->to, "How to divide it: a file for each device (default: one file)");
  app.add_option("--mesh", options->meshes,
                 "A mesh: 'pod = [data: 4, model: 2]', or x=4,y=2 for one named `mesh`; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--processes", options->processes,
                 "With --to: one file for each of this many processes, not for each device, as `tapc run --mpi "
                 "--sharded-output` writes them")
      ->check(CLI::Range(1, 1 << 20));
  return [options](Session& session) { return reshard(session, *options); };
}

}  // namespace tap::driver
