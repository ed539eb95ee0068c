// Errors of the data file code: a Failure, thrown with one diagnostic and its exit code.
//
//   throw wrong_data(Code::data_malformed, quoted(path) + " is truncated in its header: expected 118 bytes, got 60");
//   error: `x.npy` is truncated in its header: expected 118 bytes, got 60                                   (exit 3)
#pragma once

#include <string>
#include <string_view>

#include "support/diagnostic.h"
#include "support/plural.h"
#include "support/quoted.h"

namespace tap {

Failure wrong_data(Code code, std::string message, std::string help = {});        // exit 3
Failure wrong_command(Code code, std::string message, std::string help = {});     // exit 2
Failure resource_failure(Code code, std::string message, std::string help = {});  // exit 4

// The system's text for an errno value, for example "No space left on device".
std::string system_reason(int error_number);

}  // namespace tap
