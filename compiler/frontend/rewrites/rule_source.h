// The rewrites of a file and the modules that it uses, instantiated on request at given types: for passes that match
// and apply them after the front end is done.
#pragma once

#include <memory>
#include <optional>

#include "compiler/frontend/elaborate/compile_options.h"
#include "ir/graph.h"
#include "ir/rule_instance.h"

namespace tap {

struct RuleAtTypes {
  ir::Program program;  // that the instance's graphs are of; it has no main graph
  ir::RuleInstance instance;
  bool holds = true;  // the rule's `when` at these sizes
  std::string guard;  // `matmul.in > 4096` is false: `matmul.in` is 64
};

class RuleSource {
 public:
  // The file was compiled before, without errors. Rules are parsed on first use.
  RuleSource(SourceMap& sources, FileId file, const CompileOptions& options);
  ~RuleSource();

  std::vector<std::string> texts();  // the file's own rules first
  // At some small types that the rule can have; where it holds, if they can be found.
  std::optional<RuleAtTypes> sample(std::size_t rule);
  // At these types of its variables, in the order of the instance's. Nothing if it cannot have them.
  std::optional<RuleAtTypes> at(std::size_t rule, const std::vector<ir::TensorType>& types);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tap
