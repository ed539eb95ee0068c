// The most memory that one device needs at a time for what it computes: each value's boxes from the task that first writes
// them to the last one that reads them. Inputs and results of the program are not counted.
#pragma once

#include <cstdint>

namespace tap::backend {
struct CompiledProgram;  // backend/compiled_program.h
}

namespace tap::cost {

// Pre: lowered for this device (trace.h).
double peak_bytes_of_device(const backend::CompiledProgram& lowered, std::int64_t device);

}  // namespace tap::cost
