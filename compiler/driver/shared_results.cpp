#include "compiler/driver/shared_results.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "compiler/driver/process_messages.h"
#include "compiler/driver/runnable.h"
#include "runtime/failure.h"
#include "runtime/output_journal.h"
#include "runtime/tensors/tensor_part.h"
#include "support/phase.h"
#include "support/quoted.h"

namespace tap::driver {
namespace {

using backend::HeldPart;

// A tensor in a file that all processes write.
struct PlacedTensor {
  std::size_t output = 0;
  std::uint64_t offset = 0;
};
struct BoxedFile {
  OutputFile file;  // without the boxes
  std::vector<PlacedTensor> tensors;
};

// A tensor that has a type and a shape, but no memory: its address is only a number.
Tensor without_memory(const ir::TensorType& type, std::size_t number) {
  const auto* address = reinterpret_cast<const std::byte*>(number);
  return {type.element, type.shape, std::shared_ptr<const std::byte>(std::shared_ptr<const std::byte>(), address)};
}

std::vector<NamedTensor> all_without_memory(const SharedResults& results) {
  std::vector<NamedTensor> all;
  for (std::size_t k = 0; k < results.declared.size(); ++k)
    all.push_back({results.declared[k].name, without_memory(results.evaluation.types[k], k)});
  return all;
}

// The file's texts, and where its tensors lie. Texts come before all tensors.
BoxedFile boxed(OutputFile planned) {
  BoxedFile made{{std::move(planned.path), {}}, {}};
  std::uint64_t& at = made.file.bytes;
  for (const auto& piece : planned.content) {
    if (const auto* tensor = std::get_if<Tensor>(&piece))
      made.tensors.push_back({reinterpret_cast<std::size_t>(tensor->data()), at});
    else made.file.content.push_back(piece);
    at += bytes_of(piece).size();
  }
  return made;
}

const std::vector<HeldPart>& own_parts(const SharedResults& results) {
  return results.evaluation.parts[static_cast<std::size_t>(results.host.rank())];
}

int write_at(int file, const std::byte* bytes, std::size_t count, std::uint64_t at) {
  while (count > 0) {
    const ssize_t written = ::pwrite(file, bytes, count, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes += written;
    count -= static_cast<std::size_t>(written);
    at += static_cast<std::uint64_t>(written);
  }
  return 0;
}

int write_own_boxes(const SharedResults& results, const PlacedTensor& placed, int file) {
  const Shape& shape = results.evaluation.types[placed.output].shape;
  const std::vector<HeldPart>& parts = own_parts(results);
  int error = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].tensor != placed.output) continue;
    const Tensor& cells = results.evaluation.results[p];
    const std::size_t size = size_of(cells.type());
    for_each_run(shape, part_of(parts[p].box), [&](const Run& run) {
      if (error != 0) return;
      error = write_at(file, cells.data() + static_cast<std::size_t>(run.in_part) * size,
                       static_cast<std::size_t>(run.count) * size,
                       placed.offset + static_cast<std::uint64_t>(run.in_whole) * size);
    });
  }
  return error;
}

// Why a process has not written its boxes, if it has not.
struct Trouble {
  std::string why;
  bool unseen = false;  // the file is not on a file system that it shares with the first process
};
std::string to_text(const Trouble& trouble) {
  return trouble.why.empty() ? "" : (trouble.unseen ? "u" : "w") + trouble.why;
}
Trouble trouble_of(const std::string& text) {
  return text.empty() ? Trouble{} : Trouble{text.substr(1), text.front() == 'u'};
}

Trouble written_boxes(const SharedResults& results, const BoxedFile& boxed, const std::string& temporary) {
  const int file = ::open(temporary.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0 || static_cast<std::uint64_t>(status.st_size) != boxed.file.bytes) {
    if (file >= 0) ::close(file);
    return {fmt::format("process {} does not see the file that process 0 has made for {}", results.host.rank(),
                        tap::quoted(boxed.file.path)),
            true};
  }
  int error = 0;
  for (const PlacedTensor& placed : boxed.tensors)
    if (error == 0) error = write_own_boxes(results, placed, file);
  if (error == 0 && ::fsync(file) != 0 && errno != EINVAL) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  return {fmt::format("{} cannot be written by process {}: {}", tap::quoted(boxed.file.path), results.host.rank(),
                      system_reason(error))};
}

// Of the first process, while the temporaries are not yet renamed; the others follow it below.
void let_all_write(const SharedResults& results, const std::vector<BoxedFile>& files,
                   const std::vector<std::string>& temporaries) {
  const ProcessMessages messages(results.host);
  Trouble trouble;
  for (std::int64_t process = 1; process < results.host.size(); ++process)
    for (std::size_t f = 0; f < files.size(); ++f) messages.send_text(process, temporaries[f]);
  for (std::size_t f = 0; f < files.size() && trouble.why.empty(); ++f)
    trouble = written_boxes(results, files[f], temporaries[f]);
  for (std::int64_t process = 1; process < results.host.size(); ++process) {
    const Trouble its = trouble_of(messages.receive_text(process));
    if (trouble.why.empty()) trouble = its;
  }
  if (trouble.why.empty()) return;
  throw resource_failure(
      Code::cannot_write, trouble.why,
      trouble.unseen ? "write to a folder that all processes share, or let process 0 write everything with `--io root`"
                     : "");
}

// Waits until the first process has renamed the files.
void follow(const SharedResults& results, const std::vector<BoxedFile>& files) {
  const ProcessMessages messages(results.host);
  Trouble trouble;
  for (const BoxedFile& file : files) {
    const std::string temporary = messages.receive_text(0);
    if (trouble.why.empty()) trouble = written_boxes(results, file, temporary);
  }
  messages.send_text(0, to_text(trouble));
  messages.receive_text(0);
}

}  // namespace

std::vector<NamedTensor> gather(const SharedResults& results, const std::vector<bool>& asked) {
  Phase phase("gathering results");
  const ProcessMessages messages(results.host);
  std::vector<NamedTensor> all = all_without_memory(results);
  if (results.host.is_first())
    for (std::size_t k = 0; k < all.size(); ++k)
      if (asked[k]) all[k].tensor = Tensor(results.evaluation.types[k].element, results.evaluation.types[k].shape);
  for (std::int64_t process = 0; process < results.host.size(); ++process) {
    if (!results.host.is_first() && process != results.host.rank()) continue;
    const std::vector<HeldPart>& parts = results.evaluation.parts[static_cast<std::size_t>(process)];
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const auto& [output, box] = parts[p];
      if (!asked[output]) continue;
      if (!results.host.is_first()) {
        const Tensor& own = results.evaluation.results[p];
        messages.send(0, {own.data(), own.byte_size()});
        continue;
      }
      Tensor cells;
      if (process == 0) {
        cells = results.evaluation.results[p];
      } else {
        cells = Tensor(results.evaluation.types[output].element, box.shape());
        messages.receive(process, {cells.mutable_data(), cells.byte_size()});
      }
      paste(all[output].tensor, part_of(box), cells);
    }
  }
  return all;
}

std::vector<std::string> write_boxes(const SharedResults& results, const std::vector<OutputSpec>& outputs,
                                     std::vector<OutputFile> others) {
  Phase phase("writing results");
  std::vector<BoxedFile> files;
  for (OutputFile& planned : plan_outputs(outputs, all_without_memory(results)).files)
    files.push_back(boxed(std::move(planned)));
  if (!results.host.is_first()) {
    if (!files.empty()) follow(results, files);
    return {};
  }
  std::vector<OutputFile> all;
  std::vector<std::string> names;
  for (const BoxedFile& one : files) all.push_back(one.file);
  for (OutputFile& other : others) all.push_back(std::move(other));
  for (const OutputFile& file : all) names.push_back(file.path);
  if (files.empty()) {
    write_files(all);
    return names;
  }
  write_files(all, [&](const std::vector<std::string>& temporaries) {
    let_all_write(results, files, temporaries);
    return std::vector<HandedFile>();
  });
  for (std::int64_t process = 1; process < results.host.size(); ++process)
    ProcessMessages(results.host).send_text(process, "");
  return names;
}

std::string own_file(const MpiHost& host, const std::string& path) {
  const std::size_t ending = path.rfind('.');
  return fmt::format("{}-{:05}-of-{:05}{}", path.substr(0, ending), host.rank() + 1, host.size(), path.substr(ending));
}

namespace {

// The files of other processes are renamed by the first one, as one set, if it sees them. On disks of their own, each renames its
// files, when all are complete.
constexpr std::string_view taken = "taken", kept = "kept";

// By its number: devices have other numbers on other machines.
std::string inode_of(const std::string& path) {
  const std::string identity = file_identity(path);
  return identity.substr(identity.find(' ') + 1);
}

// Of another process. Whether the first one renames the files.
bool hand(const ProcessMessages& messages, const std::vector<OutputFile>& files,
          const std::vector<std::string>& temporaries) {
  messages.send_text(0, std::to_string(files.size()));
  for (std::size_t f = 0; f < files.size(); ++f)
    for (const std::string& text :
         {absolute_path(temporaries[f]), absolute_path(files[f].path), inode_of(temporaries[f])})
      messages.send_text(0, text);
  return messages.receive_text(0) == taken;
}

std::vector<HandedFile> take_all(const MpiHost& host) {
  const ProcessMessages messages(host);
  std::vector<HandedFile> all;
  std::vector<bool> takes;
  for (std::int64_t process = 1; process < host.size(); ++process) {
    std::vector<HandedFile> its;
    bool all_seen = true;
    for (std::size_t f = std::stoul(messages.receive_text(process)); f > 0; --f) {
      HandedFile file{messages.receive_text(process), ""};
      file.path = messages.receive_text(process);
      all_seen &= inode_of(file.temporary) == messages.receive_text(process);
      its.push_back(std::move(file));
    }
    takes.push_back(all_seen);
    if (all_seen) all.insert(all.end(), its.begin(), its.end());
  }
  for (std::int64_t process = 1; process < host.size(); ++process)
    messages.send_text(process, takes[static_cast<std::size_t>(process - 1)] ? taken : kept);
  return all;
}

}  // namespace

std::vector<std::string> write_own_files(const SharedResults& results, const std::vector<OutputSpec>& outputs,
                                         std::vector<OutputFile> others) {
  Phase phase("writing results");
  const ProcessMessages messages(results.host);
  const std::vector<HeldPart>& parts = own_parts(results);
  std::vector<NamedTensor> boxes;
  for (std::size_t p = 0; p < parts.size(); ++p)
    boxes.push_back({results.declared[parts[p].tensor].name, results.evaluation.results[p]});
  std::vector<OutputFile> files;
  std::vector<std::string> names;
  for (const OutputSpec& spec : outputs) {
    if (std::find(names.begin(), names.end(), spec.path) != names.end()) continue;
    names.push_back(spec.path);
    std::vector<NamedTensor> inside;
    for (std::size_t p = 0; p < parts.size(); ++p)
      if (std::any_of(outputs.begin(), outputs.end(), [&](const OutputSpec& other) {
            return other.path == spec.path && (other.name.empty() || other.name == boxes[p].name);
          }))
        inside.push_back({boxes[p].name + to_string(parts[p].box), boxes[p].tensor});
    files.push_back({spec.path, encode_safetensors(inside)});
  }
  for (OutputFile& other : others) {
    names.push_back(other.path);
    files.push_back(std::move(other));
  }
  // All are renamed only when all are complete.
  if (!results.host.is_first()) {
    hand_files(files, [&](const std::vector<std::string>& temporaries) { return hand(messages, files, temporaries); });
    messages.receive_text(0);
    return names;
  }
  write_files(files, [&](const std::vector<std::string>&) { return take_all(results.host); });
  for (std::int64_t process = 1; process < results.host.size(); ++process) messages.send_text(process, "");
  return names;
}

}  // namespace tap::driver
