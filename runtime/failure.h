// How the data files' code fails: by throwing a Failure that holds one diagnostic and the exit code it means.
//
//   throw wrong_data(Code::data_malformed, quoted(path) + " is cut off in its header: 118 bytes were wanted, 60 found");
//   error: `x.npy` is cut off in its header: 118 bytes were wanted, 60 found                                   (exit 3)
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

// What the system says about an errno value, for example "No space left on device".
std::string system_reason(int error_number);

}  // namespace tap
