// A tensor file in one of three formats, selected by the ending of its name: .npy, .npz, .safetensors. TensorFiles
// opens each file once, however many inputs come from it, and detects files that changed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/limits.h"
#include "runtime/tensors/mapped_file.h"
#include "runtime/tensors/npz.h"
#include "runtime/tensors/safetensors.h"

namespace tap {

enum class FileFormat : std::uint8_t { npy, npz, safetensors };
std::optional<FileFormat> format_of(std::string_view path);
inline bool is_archive(FileFormat format) { return format != FileFormat::npy; }

class TensorFiles {
 public:
  explicit TensorFiles(DataLimits limits = {}) : limits_(limits) {}

  // Pre: format_of(path). All throw Failure.
  std::vector<std::string> entries(const std::string& path);            // of an archive
  Tensor load(const std::string& path, const std::string& entry = {});  // for an archive: an existing entry

  // Call before results are published: throws Failure (exit 3) if a file changed while its data was in use.
  void require_intact() const;
  const std::vector<std::string>& paths() const { return paths_; }  // in the order of opening

 private:
  struct Whole {};  // a .npy file is its own tensor
  struct Opened {
    MappedFile file;
    std::variant<Whole, NpzFile, SafetensorsFile> content;
  };
  Opened& open(const std::string& path);

  DataLimits limits_;
  std::map<std::string, Opened> opened_;
  std::vector<std::string> paths_;
};

}  // namespace tap
