// The command line of a program that takes only paths, `--help` and `--version`.
#pragma once

#include <string>
#include <vector>

namespace tap {

// The arguments, at least this many. Answers --help and --version and exits with 0; exits with 2 if there are fewer.
// `usage` begins with the program's name: tapc-check SOURCE.ir CERTIFICATE STAGE.ir...
std::vector<std::string> plain_arguments(int argc, char** argv, int least, const char* usage, const char* version);

}  // namespace tap
