// The programs that tests try in bulk: those of a file of examples/ (sizes.h), and every operator of std.tap at sample sizes.
//
//   StandardOperators operators(laws);
//   for (const driver::Signature& signature : operators.all()) try_it(operators.at(signature));
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/driver/operator_sample.h"
#include "compiler/driver/standard_library.h"
#include "compiler/frontend/syntax/parse.h"

namespace tap {

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::vector<std::string> programs_in(const std::string& source) {
  std::vector<std::string> names;
  const std::regex declaration("(?:^|\\n)program (\\w+)");
  for (std::sregex_iterator at(source.begin(), source.end(), declaration), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

// Of all operators of a program: how much the oracle has to do.
inline double points(const ir::Program& program) {
  double all = 0;
  for (const ir::Operator& op : program.operators) {
    double product = 1;
    for (const ir::IndexDim& dim : op.dims) product *= static_cast<double>(dim.range.size());
    all += product;
  }
  return all;
}

// A program of an example's text, at these sizes.
inline ir::Program example_program(const std::string& file, const std::string& source, const std::string& name,
                                   const std::map<std::string, std::int64_t>& sizes, LawMemory& laws) {
  SourceMap sources;
  Diagnostics diagnostics;
  CompileOptions options;
  options.program = name;
  for (const auto& [dim, size] : sizes) options.dims[dim] = {size};
  options.standard_library = embedded::std_tap;
  options.laws = &laws;
  auto compiled = compile(sources, sources.add(file, source), options, diagnostics);
  if (!compiled) throw std::runtime_error("does not compile: " + diagnostics.all().at(0).message);
  return compiled->program;
}

class StandardOperators {
 public:
  explicit StandardOperators(LawMemory& laws) { options_.laws = &laws; }

  std::vector<driver::Signature> all() const { return driver::signatures(*module_); }
  // A program that calls it once.
  ir::Program at(const driver::Signature& signature) { return sample(signature, options_); }
  // Small enough for the interpreter, which takes microseconds for a point.
  ir::Program small(const driver::Signature& signature) {
    constexpr double most_points = 5000;
    ir::Program program = at(signature);
    return points(program) < most_points ? program : at(signature, 2);
  }
  // With all its dims of one size. Throws Failure where they do not fit together.
  ir::Program at(const driver::Signature& signature, std::int64_t size) {
    std::map<std::string, std::int64_t> sizes;
    for (const std::string& dim : dims(signature)) sizes[dim] = size;
    return at(signature, sizes);
  }
  ir::Program at(const driver::Signature& signature, const std::map<std::string, std::int64_t>& sizes) {
    driver::SampleOptions options = options_;
    options.dims = sizes;
    return sample(signature, options);
  }
  std::vector<std::string> dims(const driver::Signature& signature) const {
    return driver::size_names(*module_, signature).dims;
  }
  // Each has one size for all of its dims.
  std::vector<std::string> packs(const driver::Signature& signature) const {
    return driver::size_names(*module_, signature).packs;
  }

 private:
  ir::Program sample(const driver::Signature& signature, const driver::SampleOptions& options) {
    return driver::compile_sample(session_, *module_, signature, file_, true, options).compiled.program;
  }

  driver::Session session_;
  FileId file_ = session_.sources.add("std.tap", std::string(embedded::std_tap));
  Diagnostics diagnostics_;
  std::optional<ast::Module> module_ = parse(session_.sources, file_, {}, diagnostics_);
  driver::SampleOptions options_;
};

}  // namespace tap
