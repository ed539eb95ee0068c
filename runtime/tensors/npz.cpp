#include "runtime/tensors/npz.h"

#include <algorithm>

#include "runtime/failure.h"
#include "runtime/tensors/npy.h"
#include "support/check.h"

namespace tap {
namespace {

constexpr std::string_view npy_suffix = ".npy";

std::string_view array_name(const ZipEntry& entry) {
  return std::string_view(entry.name).substr(0, entry.name.size() - npy_suffix.size());
}

}  // namespace

NpzFile::NpzFile(SharedBytes bytes, std::string source_name, const DataLimits& limits)
    : bytes_(std::move(bytes)),
      source_name_(std::move(source_name)),
      limits_(limits),
      entries_(read_zip_directory(bytes_.span(), source_name_, limits)) {
  for (const ZipEntry& entry : entries_) {
    if (!entry.name.ends_with(npy_suffix) || entry.name.size() == npy_suffix.size()) {
      throw wrong_data(Code::data_malformed, source_name_ + " has the entry " + quoted(entry.name) +
                                                 ", which is not an array: the names of arrays end in .npy");
    }
  }
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> all;
  for (const ZipEntry& entry : entries_) all.emplace_back(array_name(entry));
  return all;
}

bool NpzFile::has(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const ZipEntry& e) { return array_name(e) == name; });
}

Tensor NpzFile::load(std::string_view name) const {
  for (const ZipEntry& entry : entries_) {
    if (array_name(entry) != name) continue;
    return parse_npy(read_zip_entry(bytes_, entry, source_name_), quoted(name) + " in " + source_name_, limits_);
  }
  TAP_UNREACHABLE("the archive has no such entry");
}

}  // namespace tap
