// Compiles a Tap text and evaluates it on the oracle, for tests of meaning.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/frontend/elaborate/compile.h"
#include "ir/interpret/interpret.h"
#include "ir/verify/verify.h"
#include "support/diagnostic_render.h"

namespace tap::test {

inline const std::string& standard_library() {
  static const std::string text = [] {
    std::ifstream stream(std::string(TAP_SOURCE_DIR) + "/lib/std.tap", std::ios::binary);
    std::ostringstream all;
    all << stream.rdbuf();
    return all.str();
  }();
  return text;
}

struct Outcome {
  std::optional<Compiled> compiled;
  std::string messages;            // as a user sees them
  std::vector<std::string> codes;  // T0301 …, in order
};

inline Outcome compile_text(const std::string& text, CompileOptions options = {}) {
  SourceMap sources;
  Diagnostics diagnostics;
  options.standard_library = standard_library();
  FileId file = sources.add("test.tap", text);
  Outcome outcome;
  outcome.compiled = compile(sources, file, options, diagnostics);
  outcome.messages = render(diagnostics, sources, MessageFormat::human, false);
  for (const auto& d : diagnostics.all()) outcome.codes.emplace_back(info(d.code).id);
  return outcome;
}

inline Tensor tensor(ElementType type, Shape shape, const std::vector<double>& values) {
  Tensor t(type, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_float(type)) t.store_f64(static_cast<std::int64_t>(i), values[i]);
    else t.store_i64(static_cast<std::int64_t>(i), static_cast<std::int64_t>(values[i]));
  }
  return t;
}

inline std::vector<double> values(const Tensor& t) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < t.size(); ++i)
    all.push_back(is_float(t.type()) ? t.load_f64(i) : static_cast<double>(t.load_i64(i)));
  return all;
}

// The outputs of a program on inputs given as flat lists of numbers; throws std::runtime_error with the messages.
inline std::vector<std::vector<double>> run_text(const std::string& text,
                                                 const std::vector<std::vector<double>>& inputs,
                                                 CompileOptions options = {}) {
  Outcome outcome = compile_text(text, std::move(options));
  if (!outcome.compiled) throw std::runtime_error(outcome.messages);
  const ir::Program& program = outcome.compiled->program;
  for (const auto& violation : ir::verify(program)) throw std::runtime_error("verifier: " + violation);
  const ir::Graph& main = program[program.main];
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < main.inputs.size(); ++i) {
    const auto& type = main[main.inputs[i]].type;
    tensors.push_back(tensor(type.element, type.shape, inputs.at(i)));
  }
  std::vector<std::vector<double>> outputs;
  for (const auto& output : ir::interpret(program, program.main, tensors).outputs) outputs.push_back(values(output));
  return outputs;
}

}  // namespace tap::test
