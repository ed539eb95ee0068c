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

// What the signature of an `op` and of an `extern op` have in common.
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

// A rank for every pack of dims, a value for every parameter without default; sizes are 4 where no other is given.
struct SampleSizes {
  std::map<std::string, std::int64_t> dims;       // of a dim, or of each dim of a pack
  std::map<std::string, std::int64_t> ranks;      // of packs
  std::map<std::string, std::string> parameters;  // as written in <…>: `2`, `true`, `f32`; of an int pack `2, 2`
};

struct SampleProgram {
  std::string text;
  std::string sizes;  // T = f32, in = 4, batch = [4], a = -1
};
// `callee` is how the program names the operator: `linear` or `std.linear`.
SampleProgram write_sample(const SourceMap& sources, const ast::Module& module, const Signature& signature,
                           const SampleSizes& sizes, const std::string& callee);

// The names of sizes in its types: its dims and packs of dims, in the order in which they occur. Parameters are none.
struct SizeNames {
  std::vector<std::string> dims, packs;
};
SizeNames size_names(const ast::Module& module, const Signature& signature);

}  // namespace tap::driver
