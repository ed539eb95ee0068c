#include "support/plain_arguments.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/exit_code.h"

namespace tap {

std::vector<std::string> plain_arguments(int argc, char** argv, int least, const char* usage, const char* version) {
  std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
  const std::string only = arguments.size() == 1 ? arguments[0] : "";
  if (only == "--help" || only == "-h" || only == "--version") {
    const std::string program(usage, std::strcspn(usage, " "));
    std::puts((only == "--version" ? program + " " + version : "usage: " + std::string(usage)).c_str());
    std::exit(std::fflush(stdout) == 0 && !std::ferror(stdout) ? exit_code::done : exit_code::resource);
  }
  if (arguments.size() >= static_cast<std::size_t>(least)) return arguments;
  std::fprintf(stderr, "error: usage: %s\n", usage);
  std::exit(exit_code::wrong_command_line);
}

}  // namespace tap
