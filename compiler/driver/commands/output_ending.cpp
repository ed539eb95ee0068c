#include "compiler/driver/commands/output_ending.h"

#include "runtime/failure.h"
#include "support/quoted.h"

namespace tap::driver {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string_view ending_of(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot == name.npos || dot == 0 || dot + 1 == name.size() ? "" : name.substr(dot);
}

Failure unknown_ending(std::string_view command, const std::string& path, std::string accepted) {
  return wrong_command(Code::command_line,
                       "`tapc " + std::string(command) + "` cannot write " + tap::quoted(path) + ": unknown ending " +
                           tap::quoted(ending_of(path)),
                       std::move(accepted));
}

}  // namespace tap::driver
