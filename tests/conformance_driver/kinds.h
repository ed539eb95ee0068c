// The kinds of conformance files. Each is one file here with the functions of its line in kinds.cpp; which kind a file is,
// its cases' fields tell.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance_driver/json_values.h"

namespace tap::conformance {

struct Kind {
  std::string_view name;
  bool (*has)(const Json& test);  // whether a case is of this kind
  // The case as a program in Tap.
  std::string (*tap)(const Json& file, const Json& test);
  // Compiles that program as any other and says what is not as it should be, a line each: empty if the case passes.
  std::vector<std::string> (*failures)(const Json& file, const Json& test);
};
std::span<const Kind> kinds();

// Why a case cannot be translated; told as its failure.
struct Untranslatable {
  std::string why;
};

std::string propagation_tap(const Json& file, const Json& test);
std::vector<std::string> propagation_failures(const Json& file, const Json& test);
std::string rule_tap(const Json& file, const Json& test);
std::vector<std::string> rule_failures(const Json& file, const Json& test);
std::string reshard_tap(const Json& file, const Json& test);
std::vector<std::string> reshard_failures(const Json& file, const Json& test);
std::string explicit_tap(const Json& file, const Json& test);
std::vector<std::string> explicit_failures(const Json& file, const Json& test);

}  // namespace tap::conformance
