// tapc-conformance FILE…: reads files of conformance cases, translates each case to a Tap program, runs the ordinary compiler
// on it and compares what comes out with what the case expects.
//
//   build/bin/tapc-conformance tests/conformance/shardy_cases.json
//   build/bin/tapc-conformance --emit-tap --case=basic_propagation/simple tests/conformance/shardy_cases.json
//
// Exit 0: all cases passed. 1: some failed. 2: the command line. 3: a file that is no such file, or a malformed case in one.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <fstream>

#include "support/checked.h"
#include "support/exit_code.h"
#include "tests/conformance_driver/kinds.h"

namespace tap::conformance {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string only;
  bool emit_tap = false;
};
struct Count {
  int passed = 0, failed = 0, malformed = 0;
};

const Kind* kind_of(const Json& test) {
  for (const Kind& kind : kinds())
    if (kind.has(test)) return &kind;
  return nullptr;
}

std::vector<std::string> failures_of(const Kind& kind, const Json& file, const Json& test) {
  try {
    return kind.failures(file, test);
  } catch (const Untranslatable& e) { return {e.why}; }
}

std::string tap_of(const Kind& kind, const Json& file, const Json& test) {
  try {
    return kind.tap(file, test);
  } catch (const Untranslatable& e) { return "// " + e.why + "\n"; }
}

std::string id_of(const Json& test) {
  auto id = test.is_object() ? test.find("id") : test.end();
  return test.is_object() && id != test.end() && id->is_string() ? id->get<std::string>() : "?";
}

// Without `[json.exception.out_of_range.403]`, which says nothing to a reader.
std::string_view plain(std::string_view what) {
  const std::size_t end = what.starts_with("[json.exception") ? what.find("] ") : what.npos;
  return end == what.npos ? what : what.substr(end + 2);
}

void run_case(const Options& options, const Json& file, const Json& test, Count& count) {
  std::string id = id_of(test);
  if (!test.is_object()) throw Malformed{"a case is no object"};
  const Kind* kind = kind_of(test);
  if (kind && options.emit_tap) {
    fmt::print("// {}\n{}\n", id, tap_of(*kind, file, test));
    return;
  }
  std::vector<std::string> failures = kind ? failures_of(*kind, file, test)
                                           : std::vector<std::string>{"no kind of case that is known here"};
  ++(failures.empty() ? count.passed : count.failed);
  if (failures.empty()) return;
  fmt::print("FAIL {}\n", id);
  for (const std::string& line : failures) fmt::print("  {}\n", line);
}

// What is not of a case's form is told of it, and the others still run.
void try_case(const Options& options, const std::string& path, const Json& file, const Json& test, Count& count) {
  auto malformed = [&](std::string_view what) {
    ++count.malformed;
    fmt::print(stderr, "error: {}: the case {} is malformed: {}\n", path, id_of(test), what);
  };
  try {
    run_case(options, file, test, count);
  } catch (const Malformed& found) { malformed(found.what); } catch (const Json::exception& found) {
    malformed(plain(found.what()));
  } catch (const std::out_of_range&) {
    malformed("it speaks of a name or a number that it does not have");
  } catch (const std::invalid_argument&) { malformed("a number is no number"); } catch (const std::length_error&) {
    malformed("a list is too long");
  } catch (const std::bad_alloc&) { malformed("it takes more memory than there is"); } catch (const Overflow& found) {
    malformed(found.what());
  }
}

int run(const Options& options) {
  Count total;
  for (const std::string& path : options.files) {
    std::ifstream stream(path);
    Json file = Json::parse(stream, nullptr, false);
    const auto cases = file.is_object() ? file.find("cases") : file.end();
    if (!stream || !file.is_object() || cases == file.end() || !cases->is_array()) {
      fmt::print(stderr, "error: {} is no file of conformance cases\n", path);
      return exit_code::wrong_data;
    }
    Count count;
    for (const Json& test : *cases)
      if (options.only.empty() || id_of(test).find(options.only) != std::string::npos)
        try_case(options, path, file, test, count);
    total.malformed += count.malformed;
    if (options.emit_tap) continue;
    fmt::print("{}: {} passed, {} failed\n", path, count.passed, count.failed);
    total.passed += count.passed;
    total.failed += count.failed;
  }
  if (!options.emit_tap && options.files.size() > 1) fmt::print("{} passed, {} failed\n", total.passed, total.failed);
  if (total.malformed > 0) return exit_code::wrong_data;
  return total.failed == 0 ? exit_code::done : exit_code::wrong_program;
}

}  // namespace
}  // namespace tap::conformance

int main(int argc, char** argv) {
  tap::conformance::Options options;
  CLI::App app("Runs conformance cases through the compiler", "tapc-conformance");
  app.add_option("FILE", options.files, "Files of cases")->required();
  app.add_option("--case", options.only, "Only cases whose id has this in it");
  app.add_flag("--emit-tap", options.emit_tap, "Print the cases as Tap programs; nothing is run");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return app.exit(e) == 0 ? 0 : tap::exit_code::wrong_command_line; }
  try {
    return tap::conformance::run(options);
  } catch (const std::exception& e) {
    fmt::print(stderr, "tapc-conformance: internal error: {}\n", e.what());
    return tap::exit_code::internal;
  }
}
