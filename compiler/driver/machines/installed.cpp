#include "compiler/driver/machines/installed.h"

#include <cstdlib>
#include <filesystem>

namespace tap::driver {

std::string machine_file_to_install() {
  auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value && *value == '/' ? value : "");
  };
  if (std::string folder = absolute("XDG_CONFIG_HOME"); !folder.empty()) return folder + "/tapc/machine.toml";
  if (std::string home = absolute("HOME"); !home.empty()) return home + "/.config/tapc/machine.toml";
  return "";
}

std::string installed_machine_file() {
  std::string path = machine_file_to_install();
  std::error_code ignored;
  return !path.empty() && std::filesystem::is_regular_file(path, ignored) ? path : "";
}

}  // namespace tap::driver
