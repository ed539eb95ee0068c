// Type names of other languages with their counterparts in Tap: f32 for float32, i64 for u32.
#pragma once

#include "support/diagnostic.h"

namespace tap {

// Adds the help, and a fix if one type replaces the name. False, without changes, if the name is unknown.
bool offer_foreign_type(Diagnostic& d, const std::string& name, Span span);
// The same where only a type is possible: also suggests the nearest one.
void offer_type(Diagnostic& d, const std::string& name, Span span);

}  // namespace tap
