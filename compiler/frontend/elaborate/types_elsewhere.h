// Type names of other languages with their counterparts in Tap: f32 for float32, i64 for u32.
#pragma once

#include "support/diagnostic.h"

namespace tap {

// Adds the help, and a fix where one type replaces the name. False, and nothing, for a name that we know from nowhere.
bool offer_type_elsewhere(Diagnostic& d, const std::string& name, Span span);
// The same where only a type can be meant: the nearest one, too.
void offer_type(Diagnostic& d, const std::string& name, Span span);

}  // namespace tap
