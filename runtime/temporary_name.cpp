#include "runtime/temporary_name.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdint>

namespace tap {
namespace {

constexpr std::string_view tmp_suffix = ".tmp";

// ".tapc-1f3a09c2-"
const std::string& prefix() {
  static const std::string text = [] {
    char host[256] = {}, space[256] = {};
    gethostname(host, sizeof host - 1);
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0) space[0] = 0;
    std::uint32_t hash = 2166136261u;  // FNV-1a
    for (std::string_view part : {std::string_view(host), std::string_view(space)}) {
      for (char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
      hash *= 16777619u;
    }
    std::string result = ".tapc-";
    for (int shift = 28; shift >= 0; shift -= 4) result += "0123456789abcdef"[hash >> shift & 15];
    return result + "-";
  }();
  return text;
}

}  // namespace

std::string temporary_name() {
  static std::atomic<std::uint64_t> count{0};
  return prefix() + std::to_string(getpid()) + "-" + std::to_string(count.fetch_add(1)) + std::string(tmp_suffix);
}

std::optional<long> process_of_temporary(std::string_view name) {
  if (!name.starts_with(prefix()) || !name.ends_with(tmp_suffix)) return std::nullopt;
  name.remove_prefix(prefix().size());
  long process = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  if (error != std::errc{} || process <= 0 || *end != '-') return std::nullopt;
  return process;
}

}  // namespace tap
