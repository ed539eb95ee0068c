#include "compiler/driver/commands/tolerance_option.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>

namespace tap::driver {
namespace {

const CLI::Validator is_tolerance(
    [](std::string& text) {
      double value = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      bool good = error == std::errc() && end == text.data() + text.size() && value >= 0 && std::isfinite(value);
      return good ? std::string() : "`" + text + "` is not a tolerance: expected a non-negative number";
    },
    "TOLERANCE");

}  // namespace

void add_tolerance_options(CLI::App& app, Tolerance& tolerance, const std::string& of, const std::string& relative,
                           const std::string& absolute) {
  app.add_option("--rtol", tolerance.relative, "Relative tolerance" + of + " for floats (default " + relative + ")")
      ->check(is_tolerance);
  app.add_option("--atol", tolerance.absolute, "Absolute tolerance" + of + " for floats (default " + absolute + ")")
      ->check(is_tolerance);
}

}  // namespace tap::driver
