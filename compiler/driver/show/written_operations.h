// Source locations of operations, by their names after inlining: `H`, `H.m` in the call that makes H, `u/v` in the
// body of an iterate.
#pragma once

#include <map>
#include <string>

#include "support/source.h"

namespace tap {
struct Compiled;  // compiler/frontend/elaborate/compile.h
}

namespace tap::driver {

std::map<std::string, Span, std::less<>> written_operations(const Compiled& compiled);

// The locations of the inputs' declarations.
std::map<std::string, Span, std::less<>> declared_inputs(const Compiled& compiled);

// The location of the operation, or of the call that it came from; invalid if neither is known.
Span written_at(const std::map<std::string, Span, std::less<>>& operations, std::string_view name);

// The same in the file of the outermost call: for an operation inside a library operator, the call of that operator.
Span called_at(const std::map<std::string, Span, std::less<>>& operations, std::string_view name);

}  // namespace tap::driver
