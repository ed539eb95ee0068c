// The choices of a program: its own rewrites and those of the libraries it uses, offered where they match, and the orders of
// its products.
#pragma once

#include <optional>
#include <string>

#include "compiler/driver/compile_file.h"
#include "compiler/frontend/rewrites/rule_source.h"
#include "passes/pass.h"
#include "passes/rewrites/rules.h"

namespace tap::driver {

// A file's rewrites, for passes. They are parsed when somebody asks for them.
class Rewrites {
 public:
  // The file was compiled before, without errors; or it is a stage, which has none.
  Rewrites(Session& session, FileId file, CompileOptions options)
      : session_(session), file_(file), options_(std::move(options)) {}

  const passes::RuleSet* all();  // null of a stage
  // Null if the plan chooses nothing.
  const passes::RuleSet* chosen_from(const ir::Plan& plan);

 private:
  Session& session_;
  FileId file_;
  CompileOptions options_;
  std::optional<RuleSource> source_;
  passes::RuleSet rules_;
};

// Every choice, named as a plan names it, with its alternatives; and why some are not offered.
//
//   C: choose 0 or 1
//     0  as it is written
//          C: f32[3, 5] = matmul(A, B)
//     1  rewrite matmul(x, w) => sum_axis<-2>(products(x, w))
//          C.z: f32[3, 4, 5] = products(A, B)
//          C: f32[3, 5] = sum_axis(C.z)
//
// Pre: the program is what offer_choices made.
std::string describe_choices(const ir::Program& program, const std::vector<passes::Remark>& remarks);

}  // namespace tap::driver
