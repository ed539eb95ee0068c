// The command line of a program that takes only paths, `--help` and `--version`.
#pragma once

#include <string>
#include <vector>

namespace tap {

// The arguments, at least so many. After --help or --version they are not wanted: that is answered, and the process ends with
// 0; with fewer it ends with 2. `usage` begins with the program's name: tapc-check SOURCE.ir CERTIFICATE STAGE.ir...
std::vector<std::string> plain_arguments(int argc, char** argv, int least, const char* usage, const char* version);

}  // namespace tap
