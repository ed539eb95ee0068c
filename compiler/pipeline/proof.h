// The independent checker's verdict on the claims of a compilation, step by step.
#pragma once

#include <string>

#include "compiler/pipeline/pipeline.h"

namespace tap::pipeline {

// Checks all steps from graph to graph. With Proof::required, throws as require_justified does.
void prove_steps(Compilation& made, const Options& options);
// Checks the steps that made the blocks and the schedule; each adds its step to the certificate.
void prove_blocks(Compilation& made, const Options& options);
void prove_schedule(Compilation& made, const Options& options);

// Throws UnjustifiedStep (failures.h) with the first refused obligation. With `require_proof`, if none is refused,
// throws Failure, exit 5, with the first assumed one.
void require_justified(const Compilation& made, bool require_proof);

// A line for each proved obligation, and the assumptions and refusals.
std::string summary(const Compilation& made);

}  // namespace tap::pipeline
