// The machine file that `tapc calibrate` installs for this user: commands for this machine use it if there is no
// --machine.
#pragma once

#include <string>

namespace tap::driver {

inline constexpr const char* builtin_machine = "builtin";  // --machine builtin: ignores the installed file

// $XDG_CONFIG_HOME/tapc/machine.toml, or $HOME/.config/tapc/machine.toml; empty if neither is an absolute path.
std::string machine_file_to_install();
// The same if the file exists, else empty.
std::string installed_machine_file();

}  // namespace tap::driver
