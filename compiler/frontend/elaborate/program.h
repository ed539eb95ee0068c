// A program declaration becomes the main graph: its dims are bound, then its body is built.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// The graph of a program, added to elaboration.program. Throws Abandoned after reporting errors.
ir::GraphId build_program(Elaboration& elaboration, const Definition& definition);

// Tries every operator that no program of the file calls on small sizes, so that its errors show without a program.
void check_uncalled_operators(Elaboration& elaboration, const ModuleScope& scope);

}  // namespace tap
