// An operator of a file at sample sizes, so that `tapc ops` can show its index spaces: a program that calls it once is
// written, with a size for each dim, and compiled.
//
//   op linear(x: T[batch.., in], …)      dim ops_in = 4, …  program ops_sample(x: f32[ops_batch_0, ops_in], …) … { … }
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/session.h"
#include "compiler/frontend/ast.h"
#include "compiler/frontend/compile.h"

namespace tap::driver {

struct SampleOptions {
  std::map<std::string, std::int64_t> dims;       // --dim n=8; other dims are 4
  std::map<std::string, std::string> parameters;  // --param stride=2
};

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

struct Sample {
  Compiled compiled;
  std::string sizes;  // T = f32, in = 4, batch = [4], a = -1
};
// `file` is the file that declares it; `library` says that it is the standard library. Empty if no attempt compiles.
std::optional<Sample> compile_sample(Session& session, const ast::Module& module, const Signature& signature,
                                     FileId file, bool library, const SampleOptions& options);

}  // namespace tap::driver
