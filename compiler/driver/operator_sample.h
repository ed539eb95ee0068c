// Instantiates an operator at sample sizes, so that `tapc ops` can show its index spaces: tries likely ranks of its
// packs and values of its parameters until a program that calls it compiles.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/sample_program.h"
#include "compiler/driver/session.h"
#include "compiler/frontend/elaborate/compile.h"
#include "compiler/frontend/proofs/laws_memory.h"

namespace tap::driver {

struct SampleOptions {
  std::map<std::string, std::int64_t> dims;       // --dim n=8; other dims are 4
  std::map<std::string, std::string> parameters;  // --param stride=2
  LawMemory* laws = nullptr;                      // shared by many samples, as in CompileOptions
};

// `--param stride=2` each. Throws Failure, exit 2: malformed, or given twice.
std::map<std::string, std::string> parse_parameters(const std::vector<std::string>& texts);

// Throws Failure, exit 2, if an option has an unknown name or a value of the wrong kind.
void require_known(const ast::Module& module, const Signature& signature, const SampleOptions& options);

struct Sample {
  Compiled compiled;
  std::string sizes;  // T = f32, in = 4, batch = [4], a = -1
};
// `file` declares the operator; `library`: it is the standard library. If no attempt compiles, either the sizes do not
// fit (throws Failure, exit 2, with the reason) or the operator is illegal (reported; throws Reported, exit 1).
Sample compile_sample(Session& session, const ast::Module& module, const Signature& signature, FileId file,
                      bool library, const SampleOptions& options);

}  // namespace tap::driver
