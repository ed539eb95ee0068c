// A whole case as a Tap program: meshes, inputs, operations, results, with what is said of their shardings.
//
//   mesh m = [a: 2]
//   program case(arg0: f32[8] @ m[{a}]) -> (out0: f32[8]) {
//     v0[i0] = tanh(arg0[i0])
//     out0[i0] = v0[i0]
//   }
//
// A returned value and the program's result are two values, the result a copy, for each may have a sharding of its own.
#pragma once

#include "tests/conformance_driver/op_text.h"

namespace tap::conformance {

// From the fields meshes, args, ops, returns and results.
std::string program_of_case(const Json& test);

// out0, out1, …: the program's results.
std::string result_name(std::size_t number);

}  // namespace tap::conformance
