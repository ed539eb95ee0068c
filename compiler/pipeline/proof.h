// The independent checker's verdict on what a compilation claims, step by step.
#pragma once

#include <string>

#include "compiler/pipeline/pipeline.h"

namespace tap::pipeline {

// On all steps from graph to graph. With Proof::required throws as require_justified does.
void prove_steps(Compilation& made, const Options& options);
// On the step that made the blocks, and on that which made the schedule; each adds its step to the certificate.
void prove_blocks(Compilation& made, const Options& options);
void prove_schedule(Compilation& made, const Options& options);

// Throws UnjustifiedStep (failures.h) with the first obligation that is refused. With `require_proof`, Failure, exit 5, for
// the first that is assumed, if none is refused.
void require_justified(const Compilation& made, bool require_proof);

// What was proved, as a line for each obligation, and what was assumed or refused.
std::string summary(const Compilation& made);

}  // namespace tap::pipeline
