// One operation of a conformance case as equations in Tap.
//
//   %0 = dot_general(%arg0, %arg1) contracting [1] x [0]       v0[i0, i1] = sum[k0] arg0[i0, k0] * arg1[k0, i1]
//
// Only the text depends on the operation's name; factors come out of the text's projections.
#pragma once

#include "tests/conformance_driver/json_values.h"

namespace tap::conformance {

struct CaseOp {
  std::string op;
  std::vector<TensorValue> operands, results;
  Attributes attributes;
};

struct TapLines {
  std::vector<std::string> declarations;  // before the program
  std::vector<std::string> body;
};

// Adds the operation's equations. Throws Untranslatable for an operation that is not in the vocabulary.
void write_op(const CaseOp& op, TapLines& lines);

// x[i0, i1], or x[] of a scalar.
std::string cell(const std::string& name, const std::vector<std::string>& indices);
// i0, i1, …
std::vector<std::string> index_names(std::size_t count, const std::string& letter = "i");

// to[i0, i1] = from[i0, i1]
std::string copy_text(const TensorValue& from, const std::string& to);

}  // namespace tap::conformance
