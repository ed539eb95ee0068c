#include "compiler/driver/machines/installed.h"

#include <filesystem>

#include "support/user_folder.h"

namespace tap::driver {

std::string machine_file_to_install() {
  const std::string folder = user_folder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? "" : folder + "/machine.toml";
}

std::string installed_machine_file() {
  std::string path = machine_file_to_install();
  std::error_code ignored;
  return !path.empty() && std::filesystem::is_regular_file(path, ignored) ? path : "";
}

}  // namespace tap::driver
