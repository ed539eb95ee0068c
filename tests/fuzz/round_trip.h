// What the fuzz targets of data files share: a reader may refuse its input by a Failure; what it accepts must survive
// being written and read again. Anything else (a crash, another exception, a difference) is a finding.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/shared_bytes.h"
#include "runtime/tensors/content.h"
#include "support/diagnostic.h"

namespace tap::fuzz {

inline SharedBytes bytes_from(const void* data, std::size_t size) {
  auto memory = aligned_bytes(size);  // exactly as large, so that an address sanitizer sees the first byte beyond
  if (size > 0) std::memcpy(memory.get(), data, size);
  return {std::move(memory), size};
}
inline SharedBytes bytes_from(const std::string& text) { return bytes_from(text.data(), text.size()); }

inline void require(bool condition) {
  if (!condition) __builtin_trap();
}

inline void require_equal(const Tensor& a, const Tensor& b) {
  require(a.type() == b.type() && a.shape() == b.shape());
  require(bytes_of(Content::value_type(a)) == bytes_of(Content::value_type(b)));
}

// Opens an archive, loads every entry, writes them by `encode`, and compares what is read back.
template <class Archive, class Encode>
void check_archive(const std::uint8_t* data, std::size_t size, Encode encode, const DataLimits& limits) {
  std::vector<NamedTensor> tensors;
  try {
    Archive archive(bytes_from(data, size), "`fuzz`", limits);
    for (const std::string& name : archive.names()) {
      // A damaged entry does not keep the others from being used.
      try {
        tensors.push_back({name, archive.load(name)});
      } catch (const Failure& failure) { require(!failure.diagnostic.message.empty()); }
    }
  } catch (const Failure& failure) {
    require(!failure.diagnostic.message.empty());
    return;
  }
  Archive again(bytes_from(flatten(encode(tensors))), "`again`", limits);
  require(again.names().size() == tensors.size());
  for (const NamedTensor& t : tensors) require_equal(t.tensor, again.load(t.name));
}

inline DataLimits small_limits() {
  DataLimits limits;
  limits.bytes = 16 << 20;
  return limits;
}

}  // namespace tap::fuzz
