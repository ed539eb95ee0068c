// Names of element types in other languages, and what to write in Tap: f32 for float32, i64 for u32.
#pragma once

#include "support/diagnostic.h"

namespace tap {

// Adds the help, and a fix where one type replaces the name; nothing for a name that is like no type.
void offer_type(Diagnostic& d, const std::string& name, Span span);

}  // namespace tap
