// The steps from a text to the sharded graph: the result of each, and its part of the certificate.
#pragma once

#include <optional>
#include <span>

#include "compiler/pipeline/pipeline.h"
#include "compiler/pipeline/rewrite_rules.h"

namespace tap::pipeline {

class Steps {
 public:
  Steps(Source source, const Options& options, const Observer& observer);
  Steps(const Steps&) = delete;  // the passes' context points into it

  Stage begin() const;  // the stage that is already reached

  // Pre: the source is a text. Both throw as parse and build of front.h do.
  void parse();
  void build();
  // Completes the plan, unless it is complete or there is nothing to decide.
  void decide();
  std::span<const passes::Pass> simplifying() const;  // the passes that always run, or those of the options
  // Throws PlanRefused for decisions that cannot be applied, and Failure for an error in a pass.
  void run(std::span<const passes::Pass> list);
  // With the checker's verdict on all steps.
  Compilation finish();

 private:
  const Options& options_;
  const Observer& observer_;
  std::optional<Text> text_;
  ParsedText parsed_;
  std::optional<RewriteRules> rewrites_;
  passes::PassContext context_;  // with the plan as completed by passes
  std::size_t planned_ = 0;      // decisions of the plan before those of shardings, which come first
  Compilation made_;
};

}  // namespace tap::pipeline
