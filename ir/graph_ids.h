// Ids into the tables of a program, and forward declarations of graph.h: enough for a header that only passes them on.
#pragma once

#include "support/ids.h"

namespace tap::ir {

using OperatorId = Id<struct OperatorTag>;
using GraphId = Id<struct GraphTag>;
using ValueId = Id<struct ValueTag>;
using OperationId = Id<struct OperationTag>;
using MeshId = Id<struct MeshTag>;
using AxisId = Id<struct AxisTag>;  // into the axes of one mesh

struct Mesh;
struct Operator;
struct Value;
struct Operation;
struct SplitRequest;
struct Graph;
struct Program;
struct BlockProgram;  // block_program.h
class Interner;

}  // namespace tap::ir
