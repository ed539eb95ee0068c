#include "runtime/temporary_name.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>

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

struct ProcessState {
  char letter = 0;  // 0: not known
  std::uint64_t start = 0;
};

// As in proc(5): the fields of `/proc/PID/stat` behind the name, which may hold spaces and brackets.
ProcessState state_of(long process) {
  char text[1024];
  const int file = open(("/proc/" + std::to_string(process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t count = read(file, text, sizeof text);
  close(file);
  std::string_view rest(text, count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::size_t name_end = rest.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= rest.size()) return {};
  rest.remove_prefix(name_end + 2);
  ProcessState state{rest.front(), 0};
  constexpr int fields_before_start = 19;
  for (int field = 0; field < fields_before_start; ++field) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) return {};
    rest.remove_prefix(space + 1);
  }
  std::from_chars(rest.data(), rest.data() + rest.size(), state.start);
  return state;
}

// Reads "123-" and removes it from the text.
template <typename Number>
bool read_field(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '-') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::string temporary_name() {
  static std::atomic<std::uint64_t> count{0};
  const long process = getpid();
  return prefix() + std::to_string(process) + "-" + std::to_string(state_of(process).start) + "-" +
         std::to_string(count.fetch_add(1)) + std::string(tmp_suffix);
}

std::optional<TemporaryOwner> owner_of_temporary(std::string_view name) {
  if (!name.starts_with(prefix()) || !name.ends_with(tmp_suffix)) return std::nullopt;
  name.remove_prefix(prefix().size());
  TemporaryOwner owner;
  if (!read_field(name, owner.process) || !read_field(name, owner.start) || owner.process <= 0) return std::nullopt;
  return owner;
}

bool is_over(const TemporaryOwner& owner) {
  if (kill(static_cast<pid_t>(owner.process), 0) != 0) return errno == ESRCH;
  const ProcessState state = state_of(owner.process);
  if (state.letter == 'Z' || state.letter == 'X') return true;
  return owner.start != 0 && state.start != 0 && owner.start != state.start;
}

}  // namespace tap
