// Where values, operations and barriers are written, for reports on shardings: by their names after inlining.
#pragma once

#include <map>
#include <string>

#include "support/source.h"

namespace tap {
struct Compiled;  // compiler/frontend/elaborate/compile.h
}

namespace tap::driver {

struct ValueLocations {
  std::map<std::string, Span, std::less<>> values;     // of the original program, without the paths of inner graphs
  std::map<std::string, Span, std::less<>> shardings;  // annotations, by values with their paths
  std::map<std::string, Span, std::less<>> splits;     // the first of each operation, by its name with its path
  std::map<std::string, Span, std::less<>> barriers;   // by the value that a barrier is at, with its path
};
ValueLocations locations_of_values(const Compiled& compiled);

}  // namespace tap::driver
