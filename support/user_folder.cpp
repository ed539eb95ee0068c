#include "support/user_folder.h"

#include <cstdlib>

namespace tap {

std::string user_folder(const char* variable, const char* in_home) {
  auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value && *value == '/' ? value : "");
  };
  if (std::string folder = absolute(variable); !folder.empty()) return folder + "/tapc";
  if (std::string home = absolute("HOME"); !home.empty()) return home + "/" + in_home + "/tapc";
  return "";
}

}  // namespace tap
