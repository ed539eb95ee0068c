#include "compiler/driver/session.h"

#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "support/write_all.h"

namespace tap::driver {
void Session::print(std::string_view text) const {
  if (int error = write_all(STDOUT_FILENO, text))
    throw Failure{exit_code::resource,
                  Diagnostic(Code::cannot_write, Span{},
                             std::string("standard output cannot be written: ") + std::strerror(error))};
}

void Session::tell(const Diagnostic& diagnostic) const {
  write_all(STDERR_FILENO, render(diagnostic, sources, message_format, colour));
}

void Session::tell(const Diagnostics& diagnostics) const {
  write_all(STDERR_FILENO, render(diagnostics, sources, message_format, colour));
}

void Session::tell(std::string_view text) const { write_all(STDERR_FILENO, text); }

bool wants_colour(ColourChoice choice, int file_descriptor) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_color && *no_color) return false;
  if (!terminal || std::string_view(terminal) == "dumb") return false;
  return ::isatty(file_descriptor) == 1;
}

}  // namespace tap::driver
