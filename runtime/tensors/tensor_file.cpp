#include "runtime/tensors/tensor_file.h"

#include <algorithm>

#include "runtime/failure.h"
#include "runtime/tensors/npy.h"
#include "support/check.h"

namespace tap {
namespace {

constexpr std::pair<std::string_view, FileFormat> endings[] = {
    {".npy", FileFormat::npy}, {".npz", FileFormat::npz}, {".safetensors", FileFormat::safetensors}};

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i == 0 ? "" : ", ") + quoted(names[i]);
  return names.size() > most ? text + ", …" : text;
}

template <class Archive>
Tensor load_from(const Archive& archive, const std::string& path, const std::string& entry) {
  if (archive.has(entry)) return archive.load(entry);
  throw wrong_data(Code::data_missing, quoted(path) + " has no entry " + quoted(entry),
                   "it has " + list(archive.names()));
}

}  // namespace

std::optional<FileFormat> format_of(std::string_view path) {
  for (auto [ending, format] : endings) {
    if (path.size() > ending.size() && path.ends_with(ending)) return format;
  }
  return std::nullopt;
}

TensorFiles::Opened& TensorFiles::open(const std::string& path) {
  if (auto known = opened_.find(path); known != opened_.end()) return known->second;
  auto format = format_of(path);
  TAP_CHECK(format.has_value(), "a tensor file's name has no known ending");
  Opened opened{MappedFile::open(path), Whole{}};
  if (*format == FileFormat::npz) opened.content = NpzFile(opened.file.bytes(), quoted(path), limits_);
  if (*format == FileFormat::safetensors) opened.content = SafetensorsFile(opened.file.bytes(), quoted(path), limits_);
  paths_.push_back(path);
  return opened_.emplace(path, std::move(opened)).first->second;
}

std::vector<std::string> TensorFiles::entries(const std::string& path) {
  Opened& opened = open(path);
  if (const auto* npz = std::get_if<NpzFile>(&opened.content)) return npz->names();
  if (const auto* safetensors = std::get_if<SafetensorsFile>(&opened.content)) return safetensors->names();
  TAP_UNREACHABLE("a single array has no entries");
}

Tensor TensorFiles::load(const std::string& path, const std::string& entry) {
  Opened& opened = open(path);
  if (const auto* npz = std::get_if<NpzFile>(&opened.content)) return load_from(*npz, path, entry);
  if (const auto* safetensors = std::get_if<SafetensorsFile>(&opened.content))
    return load_from(*safetensors, path, entry);
  return parse_npy(opened.file.bytes(), quoted(path), limits_);
}

void TensorFiles::require_intact() const {
  for (const std::string& path : paths_) opened_.at(path).file.require_intact();
}

}  // namespace tap
