// Ids into the tables of a program, and the names of what graph.h defines: all that a header needs that passes them on.
#pragma once

#include "support/ids.h"

namespace tap::ir {

using OperatorId = Id<struct OperatorTag>;
using GraphId = Id<struct GraphTag>;
using ValueId = Id<struct ValueTag>;
using OperationId = Id<struct OperationTag>;

struct Mesh;
struct Operator;
struct Value;
struct Operation;
struct Graph;
struct Program;
struct BlockProgram;  // block_program.h
class Interner;

}  // namespace tap::ir
