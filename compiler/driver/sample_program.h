// Writes a program that calls one operator once, at sample sizes:
//
//   op linear(x: T[batch.., in], …)      dim ops_in = 4, …  program ops_sample(x: f32[ops_batch_0, ops_in], …) … { … }
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/frontend/syntax/ast.h"
#include "support/source.h"

namespace tap::driver {

// The common parts of the signatures of `op` and `extern op`.
struct Signature {
  std::string doc, name;
  const std::vector<ast::Param>* params;
  const std::vector<ast::TensorParam>* inputs;
  const std::vector<ast::TensorParam>* results;
  const std::vector<ast::WhereClause>* where;
  Span span;
};
std::vector<Signature> signatures(const ast::Module& module);

inline constexpr std::string_view sample_program_name = "ops_sample";

// A rank for every pack of dims, a value for every parameter without a default; the default size is 4.
struct SampleSizes {
  std::map<std::string, std::int64_t> dims;       // of a dim, or of each dim of a pack
  std::map<std::string, std::int64_t> ranks;      // of packs
  std::map<std::string, std::string> parameters;  // as written in <…>: `2`, `true`, `f32`; for an int pack `2, 2`
};

struct SampleProgram {
  std::string text;
  std::string sizes;  // T = f32, in = 4, batch = [4], a = -1
};
// `callee` is the operator's name in the program: `linear` or `std.linear`.
SampleProgram write_sample(const SourceMap& sources, const ast::Module& module, const Signature& signature,
                           const SampleSizes& sizes, const std::string& callee);

// The names of sizes in its types: its dims and packs of dims, in order of first occurrence. Without parameters.
struct SizeNames {
  std::vector<std::string> dims, packs;
};
SizeNames size_names(const ast::Module& module, const Signature& signature);

}  // namespace tap::driver
