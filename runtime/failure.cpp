#include "runtime/failure.h"

#include <system_error>

#include "runtime/utf8.h"
#include "support/exit_code.h"

namespace tap {
namespace {

Failure failure(int exit, Code code, std::string message, std::string help) {
  Diagnostic diagnostic(code, Span{}, std::move(message));
  diagnostic.help(std::move(help));
  return {exit, std::move(diagnostic)};
}

}  // namespace

Failure wrong_data(Code code, std::string message, std::string help) {
  return failure(exit_code::wrong_data, code, std::move(message), std::move(help));
}
Failure wrong_command(Code code, std::string message, std::string help) {
  return failure(exit_code::wrong_command_line, code, std::move(message), std::move(help));
}
Failure resource_failure(Code code, std::string message, std::string help) {
  return failure(exit_code::resource, code, std::move(message), std::move(help));
}

std::string quoted(std::string_view name) {
  constexpr std::size_t longest = 120;
  constexpr char hex[] = "0123456789abcdef";
  std::string text = "`";
  for (std::size_t at = 0; at < name.size();) {
    if (at >= longest) {
      text += "…";
      break;
    }
    auto byte = static_cast<unsigned char>(name[at]);
    std::size_t size = byte < 0x20 || byte == 0x7F ? 0 : utf8_sequence(name.substr(at));
    if (size == 0) {
      text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
      size = 1;
    } else {
      text += name.substr(at, size);
    }
    at += size;
  }
  return text + "`";
}

std::string system_reason(int error_number) { return std::generic_category().message(error_number); }

}  // namespace tap
