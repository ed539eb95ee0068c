#include "passes/shardings/onnx_lowered.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"

namespace tap::passes::onnx {
namespace {

using ir::ValueId;

class Lowering {
 public:
  Lowering(const ir::Program& before, const Inferred& inferred, const ir::Program& after)
      : before_(before[before.main]), inferred_(inferred), after_(after[after.main]) {
    for (std::size_t v = 0; v < before_.values.size(); ++v) by_name_.emplace(before_.values[v].name, ValueId(v));
    for (std::size_t o = 0; o < before_.operations.size(); ++o)
      for (ValueId v : before_.operations[o].results) writers_[v].push_back(o);
    for (const ir::Value& value : after_.values) left_.insert(value.name);
  }

  LoweredShardings run() {
    Inferred& made = out_.inferred;
    made.operations = inferred_.operations;
    for (const ir::Value& value : after_.values) {
      const auto was = by_name_.find(value.name);
      const bool known = was != by_name_.end() && before_[was->second].type.shape == value.type.shape;
      made.values.push_back(known ? inferred_.values[was->second.index()] : Placed{});
      made.value_from.push_back(known ? inferred_.value_from[was->second.index()] : std::nullopt);
    }
    for (const ir::Operation& operation : after_.operations) operands(operation);
    for (std::size_t v = 0; v < before_.values.size(); ++v)
      if (!left_.contains(before_.values[v].name) && inferred_.value_from[v] && differs_from_readers(ValueId(v)))
        out_.inside.push_back(before_.values[v].name);
    return std::move(out_);
  }

 private:
  // Specs of operands in the operations that compute the results. For an inlined value's operands: split like the
  // results.
  void operands(const ir::Operation& operation) {
    auto& placed = out_.inferred.operands.emplace_back(operation.operands.size());
    auto& from = out_.inferred.operand_from.emplace_back(operation.operands.size());
    std::set<std::size_t> writers;
    for (ValueId result : operation.results)
      if (auto was = by_name_.find(after_[result].name); was != by_name_.end())
        if (auto all = writers_.find(was->second); all != writers_.end())
          writers.insert(all->second.begin(), all->second.end());
    for (std::size_t k = 0; k < operation.operands.size(); ++k)
      for (std::size_t o : writers)
        for (std::size_t j = 0; j < before_.operations[o].operands.size() && !placed[k]; ++j) {
          const ir::Value& read = before_[before_.operations[o].operands[j]];
          const ir::Value& now = after_[operation.operands[k]];
          if (read.name != now.name || read.type.shape != now.type.shape) continue;
          placed[k] = inferred_.operands[o][j];
          from[k] = inferred_.operand_from[o][j];
        }
  }
  bool differs_from_readers(ValueId value) const {
    const Placed& own = inferred_.values[value.index()];
    for (const ir::Operation& operation : before_.operations)
      if (std::ranges::count(operation.operands, value) > 0)
        for (ValueId result : operation.results)
          if (inferred_.values[result.index()] != own) return true;
    return false;
  }

  const ir::Graph& before_;
  const Inferred& inferred_;
  const ir::Graph& after_;
  std::map<std::string, ValueId> by_name_;
  std::map<ValueId, std::vector<std::size_t>> writers_;
  std::set<std::string> left_;
  LoweredShardings out_;
};

}  // namespace

LoweredShardings lowered(const ir::Program& before, const Inferred& inferred, const ir::Program& after) {
  return Lowering(before, inferred, after).run();
}

}  // namespace tap::passes::onnx
