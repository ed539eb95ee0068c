// A whole program in ONNX's sharding formalism: infers missing specs by the rules of the text, and reports every
// violated rule.
//
//   no spec for an input     as at the node that writes it; a program's input is unsharded
//   no spec for an output    from the operation's inputs (onnx_operation.h)
//   a spec for an output     is kept, with a reshard if necessary
//
// A node is named after a value that it computes: it is the operation that writes that value, with its parts
// (`Y.sum`); if several operations write the value, all of them, and `Y@1` only the second one.
#pragma once

#include "ir/graph.h"
#include "passes/shardings/onnx_operation.h"
#include "passes/shardings/plan_listed.h"

namespace tap::passes::onnx {

struct TensorSpec {
  std::string tensor;
  ir::onnx::Spec spec;
  bool operator==(const TensorSpec&) const = default;
};
struct NodeSpecs {
  std::string node;
  std::vector<TensorSpec> specs;
  bool operator==(const NodeSpecs&) const = default;
};
struct Shardings {
  std::string configuration;
  std::int64_t devices = 1;
  std::vector<NodeSpecs> nodes;
  bool operator==(const Shardings&) const = default;
};

// A spec by number, or a node.
struct SpecRef {
  std::size_t node = 0;
  std::optional<std::size_t> spec = {};
  bool operator==(const SpecRef&) const = default;
};
struct Finding {
  Broken broken;
  std::string node;              // the operation, or the node's name in the specs
  std::string tensor;            // empty: it concerns the operation
  std::vector<SpecRef> at = {};  // the specs concerned; of several, `broken.field` is of the first
  bool operator==(const Finding&) const = default;
};
struct Inferred {
  std::vector<Placed> values;  // of the main graph, by value
  // By operation and operand, if its use has a different placement than its value.
  std::vector<std::vector<std::optional<Placed>>> operands;
  std::vector<Finding> findings;
  // The spec that each placement comes from.
  std::vector<std::optional<SpecRef>> value_from;
  std::vector<std::vector<std::optional<SpecRef>>> operand_from;
  std::vector<std::vector<std::string>> operations;  // by node of the specs: its operations
};
// Pre: calls are inlined. Each violated rule is a finding; the tensor then counts as unsharded.
Inferred infer(const ir::Program& program, const Shardings& shardings, Reduced reduced = Reduced::on_all);

// The program with these shardings, on meshes of their own. A value that needs a plan with explicit devices is left
// unsharded and listed in `listable_findings`; one that a plan cannot express either is a finding.
struct Annotated {
  ir::Program program;
  std::vector<Finding> findings;
  ListedValues listed;
  std::vector<Finding> listable_findings;
};
Annotated annotated(ir::Program program, const Inferred& inferred);

// The specs of all operations of a program whose values are sharded, for as many devices as its largest mesh.
struct WrittenSpecs {
  Shardings shardings;
  std::vector<Finding> findings;
};
WrittenSpecs specs_of(const ir::Program& program, const ListedValues& listed = {});

}  // namespace tap::passes::onnx
