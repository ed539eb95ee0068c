// The rewrites of a file and the modules that it uses, instantiated on request at given types: for passes that match
// and apply them after the front end.
#pragma once

#include <memory>
#include <optional>

#include "compiler/frontend/elaborate/compile_options.h"
#include "ir/graph.h"
#include "ir/rule_instance.h"

namespace tap {

struct RuleAtTypes {
  ir::Program program;  // contains the instance's graphs; has no main graph
  ir::RuleInstance instance;
  bool holds = true;  // the rule's `when` at these sizes
  std::string guard;  // `matmul.in > 4096` is false: `matmul.in` is 64
};

class RuleSource {
 public:
  // The file must have compiled without errors. Rules are parsed on first use.
  RuleSource(SourceMap& sources, FileId file, const CompileOptions& options);
  ~RuleSource();

  std::vector<std::string> texts();  // the file's own rules first
  // At some small valid types; at types where it holds, if they can be found.
  std::optional<RuleAtTypes> sample(std::size_t rule);
  // At these types of its variables, in the instance's order. Nothing if they are invalid.
  std::optional<RuleAtTypes> at(std::size_t rule, const std::vector<ir::TensorType>& types);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tap
