// A program through the pipeline with the checker's verdict on every step.
#pragma once

#include "compiler/pipeline/pipeline.h"
#include "compiler/pipeline/proof.h"

namespace tap::driver::test {

inline pipeline::Compilation certified(ir::Program program, const ir::Plan& plan = {},
                                       pipeline::Stage stop = pipeline::Stage::sharded, bool fuse_more = false,
                                       bool strict_fp = false) {
  pipeline::Options options;
  options.plan = plan;
  options.fuse_more = fuse_more;
  options.caution.strict_fp = strict_fp;
  options.proof = pipeline::Proof::recorded;
  options.stop = stop;
  return pipeline::compile(std::move(program), options);
}

// As a command compiles it that has no plan: the cost model decides.
inline pipeline::Compilation certified_as_decided(ir::Program program, bool strict_fp, ir::Plan plan = {}) {
  pipeline::Options options;
  options.plan = std::move(plan);
  options.decide = pipeline::Deciding{cost::builtin_cluster(cost::builtin({}, 2)), 2};
  options.caution.strict_fp = strict_fp;
  options.proof = pipeline::Proof::recorded;
  return pipeline::compile(std::move(program), options);
}

}  // namespace tap::driver::test
