#include "runtime/tensors/safetensors.h"

#include <algorithm>
#include <numeric>

#include "runtime/failure.h"
#include "runtime/tensors/safetensors_header.h"
#include "runtime/tensors/unpack.h"
#include "support/check.h"

namespace tap {
namespace {

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

SafetensorsLayout parse_safetensors_layout(const SharedBytes& head, std::uint64_t file_bytes,
                                           const std::string& source_name, const DataLimits& limits) {
  if (head.size() < safetensors_preamble) {
    throw wrong_tensors(
        source_name, " is truncated in its header length: 8 bytes expected, " + std::to_string(head.size()) + " found");
  }
  const auto length = load_little<std::uint64_t>(head.data());
  if (length > longest_header) {
    throw wrong_data(Code::data_limit, source_name + " has a header of " + plural(length, "byte") + ", and at most " +
                                           std::to_string(longest_header) + " are allowed");
  }
  if (length > head.size() - safetensors_preamble) {
    throw wrong_tensors(source_name, " is truncated in its header: " + plural(length, "byte") + " expected, " +
                                         std::to_string(head.size() - safetensors_preamble) + " found");
  }
  SafetensorsLayout layout;
  layout.entries = parse_safetensors_header(head.text().substr(safetensors_preamble, length), source_name, limits);
  layout.data_offset = safetensors_preamble + length;
  require_sizes(layout.entries, source_name, limits);
  require_cover(layout.entries, file_bytes - layout.data_offset, source_name);
  return layout;
}

std::uint64_t safetensors_head_bytes(std::span<const std::byte> start) {
  if (start.size() < safetensors_preamble) return start.size();
  return safetensors_preamble + std::min(load_little<std::uint64_t>(start.data()), longest_header);
}

SafetensorsFile::SafetensorsFile(SharedBytes bytes, std::string source_name, const DataLimits& limits)
    : source_name_(std::move(source_name)) {
  SafetensorsLayout layout = parse_safetensors_layout(bytes, bytes.size(), source_name_, limits);
  entries_ = std::move(layout.entries);
  data_ = bytes.slice(layout.data_offset, bytes.size() - layout.data_offset);
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
  header.append((64 - (header.size() + safetensors_preamble) % 64) % 64, ' ');
  std::string length;
  for (std::size_t i = 0; i < safetensors_preamble; ++i) length += static_cast<char>(header.size() >> (8 * i));
  Content content{length + header};
  for (const NamedTensor* t : sorted) content.emplace_back(t->tensor);
  return content;
}

}  // namespace tap
