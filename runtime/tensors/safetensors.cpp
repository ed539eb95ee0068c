#include "runtime/tensors/safetensors.h"

#include <algorithm>
#include <numeric>

#include "runtime/failure.h"
#include "runtime/tensors/safetensors_header.h"
#include "runtime/tensors/unpack.h"
#include "support/check.h"

namespace tap {
namespace {

constexpr std::size_t length_size = 8;
constexpr std::uint64_t longest_header = 100'000'000;

Failure wrong_tensors(const std::string& source_name, const std::string& what) {
  return wrong_data(Code::data_malformed, source_name + what);
}

void require_sizes(const std::vector<SafetensorsEntry>& entries, const std::string& source_name,
                   const DataLimits& limits) {
  for (const SafetensorsEntry& e : entries) {
    std::string tensor = quoted(e.name) + " in " + source_name;
    std::uint64_t expected = checked_byte_size(e.type, e.shape, tensor, limits);
    if (e.begin > e.end || e.end - e.begin != expected) {
      throw wrong_tensors(tensor, " is " + describe(e.type, e.shape) + " of " + plural(expected, "byte") +
                                      ", and its offsets are " + std::to_string(e.begin) + " to " +
                                      std::to_string(e.end));
    }
  }
}

// Together the ranges must cover the data, each byte once.
void require_cover(const std::vector<SafetensorsEntry>& entries, std::uint64_t size, const std::string& source_name) {
  std::vector<const SafetensorsEntry*> sorted;
  for (const SafetensorsEntry& e : entries) sorted.push_back(&e);
  std::sort(sorted.begin(), sorted.end(),
            [](auto* a, auto* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  std::uint64_t covered = 0;
  for (const SafetensorsEntry* e : sorted) {
    if (e->begin != covered) {
      std::string how = e->begin < covered ? " overlaps the tensor before it" : " leaves a gap before it";
      throw wrong_tensors(source_name, ": " + quoted(e->name) + how + ": it begins at byte " +
                                           std::to_string(e->begin) + " of the data; expected byte " +
                                           std::to_string(covered));
    }
    covered = e->end;
  }
  if (covered == size) return;
  throw wrong_tensors(source_name, (size < covered ? " is truncated in its data: " : " has data after its end: ") +
                                       plural(covered, "byte") + " expected, " + std::to_string(size) +
                                       " follow the header");
}

}  // namespace

SafetensorsFile::SafetensorsFile(SharedBytes bytes, std::string source_name, const DataLimits& limits)
    : source_name_(std::move(source_name)) {
  if (bytes.size() < length_size) {
    throw wrong_tensors(source_name_, " is truncated in its header length: 8 bytes expected, " +
                                          std::to_string(bytes.size()) + " found");
  }
  auto length = load_little<std::uint64_t>(bytes.data());
  if (length > longest_header) {
    throw wrong_data(Code::data_limit, source_name_ + " has a header of " + plural(length, "byte") + ", and at most " +
                                           std::to_string(longest_header) + " are allowed");
  }
  if (length > bytes.size() - length_size) {
    throw wrong_tensors(source_name_, " is truncated in its header: " + plural(length, "byte") + " expected, " +
                                          std::to_string(bytes.size() - length_size) + " found");
  }
  entries_ = parse_safetensors_header(bytes.text().substr(length_size, length), source_name_, limits);
  data_ = bytes.slice(length_size + length, bytes.size() - length_size - length);
  require_sizes(entries_, source_name_, limits);
  require_cover(entries_, data_.size(), source_name_);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> all;
  for (const SafetensorsEntry& e : entries_) all.push_back(e.name);
  return all;
}

bool SafetensorsFile::has(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const SafetensorsEntry& e) { return e.name == name; });
}

Tensor SafetensorsFile::load(std::string_view name) const {
  for (const SafetensorsEntry& e : entries_) {
    if (e.name == name)
      return unpack(data_.slice(e.begin, e.end - e.begin), {e.type}, e.shape, quoted(name) + " in " + source_name_);
  }
  TAP_UNREACHABLE("the file has no such entry");
}

Content encode_safetensors(const std::vector<NamedTensor>& tensors) {
  std::vector<const NamedTensor*> sorted;
  for (const NamedTensor& t : tensors) sorted.push_back(&t);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto* a, auto* b) { return size_of(a->tensor.type()) > size_of(b->tensor.type()); });
  std::string header = "{";
  std::uint64_t offset = 0;
  for (const NamedTensor* t : sorted) {
    std::uint64_t end = offset + t->tensor.byte_size();
    if (header.size() > 1) header += ',';
    header +=
        json_string(t->name) + ":{\"dtype\":\"" + std::string(safetensors_type(t->tensor.type())) + "\",\"shape\":[";
    for (std::size_t i = 0; i < t->tensor.shape().size(); ++i)
      header += (i == 0 ? "" : ",") + std::to_string(t->tensor.shape()[i]);
    header += "],\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(end) + "]}";
    offset = end;
  }
  header += '}';
  header.append((64 - (header.size() + length_size) % 64) % 64, ' ');
  std::string length;
  for (std::size_t i = 0; i < length_size; ++i) length += static_cast<char>(header.size() >> (8 * i));
  Content content{length + header};
  for (const NamedTensor* t : sorted) content.emplace_back(t->tensor);
  return content;
}

}  // namespace tap
