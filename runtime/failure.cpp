#include "runtime/failure.h"

#include <system_error>

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

std::string system_reason(int error_number) { return std::generic_category().message(error_number); }

}  // namespace tap
