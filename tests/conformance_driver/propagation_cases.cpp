// Propagation: a program with some shardings given, which pass of the reference it is for, and the shardings of its values
// afterwards.
#include <fmt/format.h>

#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "passes/shardings/propagate.h"
#include "tests/conformance_driver/case_program.h"
#include "tests/conformance_driver/compile_case.h"
#include "tests/conformance_driver/kinds.h"

namespace tap::conformance {
namespace {

using ir::Sharding;
using passes::PropagationOptions;
using passes::Strategy;

PropagationOptions options_for(const std::string& pass) {
  PropagationOptions options;  // those of a compilation, as in `pipeline`
  if (pass.starts_with("pipeline")) return options;
  options.prepare = options.finish = false;
  if (pass == "user-priority") return options;
  options.user_priorities = false;
  if (pass == "op-priority") return options;
  options.operation_levels = false;
  if (pass == "aggressive") return options;
  options.strategy = Strategy::basic;
  options.conservative = pass == "basic-conservative";
  if (pass != "basic" && !options.conservative) throw Untranslatable{"there is no pass " + pass};
  return options;
}

class Comparison {
 public:
  explicit Comparison(const ir::Program& program) : program_(program), main_(program[program.main]) {}

  void compare(const std::string& shown, const std::string& name, const Json& json) {
    const ir::Value& value = this->value(name);
    std::optional<Sharding> expected, got = one_form(value.sharding);
    if (!json.is_null()) expected = one_form(sharding_on(program_, json, value.type.shape.size()));
    if (expected != got)
      failures_.push_back(fmt::format("{}: got {}, expected {}", shown, got ? to_string(program_.meshes, *got) : "none",
                                      expected ? to_string(program_.meshes, *expected) : "none"));
  }
  std::vector<std::string> failures() { return std::move(failures_); }

 private:
  const ir::Value& value(const std::string& name) const {
    for (const ir::Value& value : main_.values)
      if (value.name == name) return value;
    throw Malformed{"there is no value " + name};
  }
  std::optional<Sharding> one_form(std::optional<Sharding> sharding) const {
    if (!sharding) return sharding;
    for (ir::DimSharding& dim : sharding->dims) dim.priority.reset();
    return canonical(program_[sharding->mesh], *sharding);
  }

  const ir::Program& program_;
  const ir::Graph& main_;
  std::vector<std::string> failures_;
};

}  // namespace

std::string propagation_tap(const Json&, const Json& test) { return program_of_case(test); }

std::vector<std::string> propagation_failures(const Json&, const Json& test) {
  PropagationOptions options = options_for(test.at("pass"));
  ir::Program program = passes::propagate(compile_case(program_of_case(test)), options).program;
  Comparison comparison(program);
  const Json& expect = test.at("expect");
  if (expect.at("args").is_array()) list_of(expect.at("args"), test.at("args").size(), "expect.args");
  if (expect.at("results").is_array()) list_of(expect.at("results"), test.at("returns").size(), "expect.results");
  if (expect.at("args").is_array())
    for (std::size_t k = 0; k < expect.at("args").size(); ++k) {
      std::string name = test.at("args").at(k).at("name");
      comparison.compare(name, tap_name(name), expect.at("args").at(k));
    }
  if (expect.at("results").is_array())
    for (std::size_t k = 0; k < expect.at("results").size(); ++k)
      comparison.compare(fmt::format("result {}", k), result_name(k), expect.at("results").at(k));
  for (const auto& [name, shardings] : expect.at("ops").items())
    comparison.compare(name, tap_name(name), shardings.at(0));
  return comparison.failures();
}

}  // namespace tap::conformance
