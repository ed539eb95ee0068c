// Rules: one operation with its shapes, and its factors. The equation's projections must imply the same ones, whatever they
// are called: which axes share a factor, its size, and which are reductions, need replication or permute.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "passes/shardings/sites.h"
#include "tests/conformance_driver/compile_case.h"
#include "tests/conformance_driver/kinds.h"
#include "tests/conformance_driver/op_text.h"

namespace tap::conformance {
namespace {

using passes::AxisFactors;
using passes::Factor;
using passes::FactorKind;
using passes::Site;

CaseOp op_of(const Json& test) {
  CaseOp op{test.at("op"), {}, {}, Attributes(test.value("attrs", Json()))};
  for (std::size_t k = 0; k < test.at("operand_types").size(); ++k)
    op.operands.push_back(tensor_of(fmt::format("x{}", k), test.at("operand_types").at(k)));
  for (std::size_t k = 0; k < test.at("result_types").size(); ++k)
    op.results.push_back(tensor_of(fmt::format("y{}", k), test.at("result_types").at(k)));
  return op;
}

// Pieces that are put together may have been cut out before: the case's name says so where the rule depends on it.
enum class Pieces { given, of_one, of_several };
Pieces pieces_of(const Json& test) {
  std::string id = test.value("id", "");
  if (id.find("/concat_operands_are_") == std::string::npos || id.find("slice") == std::string::npos)
    return Pieces::given;
  return id.find("same_tensor") != std::string::npos ? Pieces::of_one : Pieces::of_several;
}

struct Inputs {
  std::vector<TensorValue> inputs;
  std::vector<std::string> slices;
};

Inputs inputs_of(const CaseOp& op, Pieces pieces) {
  Inputs out;
  if (pieces == Pieces::given || op.operands.empty()) return {op.operands, {}};
  TensorValue whole = op.operands.at(0);
  whole.name = "x";
  for (const TensorValue& piece : op.operands)
    for (std::size_t a = 0; a < whole.shape.size(); ++a)
      whole.shape.at(a) = std::max(whole.shape.at(a), piece.shape.at(a));
  if (pieces == Pieces::of_one) out.inputs.push_back(whole);
  for (const TensorValue& piece : op.operands) {
    TensorValue source = whole;
    if (pieces == Pieces::of_several) {
      source.name = "of_" + piece.name;
      for (std::int64_t& n : source.shape) ++n;
      out.inputs.push_back(source);
    }
    std::vector<std::string> names = index_names(piece.shape.size()), ranges;
    for (std::size_t a = 0; a < names.size(); ++a)
      ranges.push_back(fmt::format("{} in 0..{}", names.at(a), piece.shape.at(a)));
    out.slices.push_back(
        fmt::format("{} = {} for {}", cell(piece.name, names), cell(source.name, names), fmt::join(ranges, ", ")));
  }
  return out;
}

// The factors of the site that writes the result; those of a tensor between two equations go through it.
class Found {
 public:
  explicit Found(const ir::Program& program) : graph_(program[program.main]) {
    passes::FactorTable table(program);
    for (Site& site : passes::sites_of(program, graph_, table)) {
      base_.push_back(factors_.size());
      for (const Factor& factor : site.factors.factors) {
        same_.push_back(factors_.size());
        factors_.push_back(factor);
      }
      sites_.push_back(std::move(site));
    }
    for (std::size_t to = 0; to < sites_.size(); ++to)
      for (std::size_t k = 0; k < sites_[to].operands.size(); ++k) go_through(to, k);
  }

  // The factors of the tensor with that name, by axis, as it is read by (or written by) what is under test.
  std::optional<std::vector<std::vector<std::size_t>>> axes(const std::string& name, bool result) {
    for (std::size_t s = sites_.size(); s-- > 0;) {
      const auto& values = result ? sites_[s].results : sites_[s].operands;
      const auto& tensors = result ? sites_[s].factors.results : sites_[s].factors.operands;
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (graph_[values.at(k)].name != name) continue;
        std::vector<std::vector<std::size_t>> list;
        for (const AxisFactors& axis : tensors.at(k).axes) {
          list.emplace_back();
          for (std::uint32_t f : axis.factors) list.back().push_back(root(base_[s] + f));
        }
        return list;
      }
    }
    return std::nullopt;
  }
  const Factor& operator[](std::size_t factor) const { return factors_[factor]; }

 private:
  std::size_t root(std::size_t f) const {
    while (same_[f] != f) f = same_[f];
    return f;
  }
  void go_through(std::size_t to, std::size_t operand) {
    ir::ValueId value = sites_[to].operands[operand];
    if (!graph_[value].name.starts_with("between_")) return;
    for (std::size_t from = 0; from < sites_.size(); ++from)
      for (std::size_t r = 0; r < sites_[from].results.size(); ++r) {
        if (sites_[from].results[r] != value) continue;
        const auto &written = sites_[from].factors.results[r].axes, &read = sites_[to].factors.operands[operand].axes;
        for (std::size_t a = 0; a < written.size(); ++a) {
          const auto &f = written[a].factors, &g = read[a].factors;
          bool same = f.size() == g.size();
          for (std::size_t k = 0; same && k < f.size(); ++k)
            same = factors_[base_[from] + f[k]].size == factors_[base_[to] + g[k]].size;
          for (std::size_t k = 0; same && k < f.size(); ++k) same_[root(base_[to] + g[k])] = root(base_[from] + f[k]);
        }
      }
  }

  const ir::Graph& graph_;
  std::vector<Site> sites_;
  std::vector<std::size_t> base_;  // by site: the number of its first factor
  std::vector<Factor> factors_;
  std::vector<std::size_t> same_;
};

class RuleComparison {
 public:
  RuleComparison(const Json& test, Found& found)
      : test_(test), found_(found), conservative_(test.value("mode", "default") == "conservative") {}

  std::vector<std::string> failures(const CaseOp& op) {
    compare(op.operands, test_.at("operand_factors"), false);
    compare(op.results, test_.at("result_factors"), true);
    for (const auto& [name, factor] : ours_) compare_kind(name, factor);
    if (!failures_.empty()) failures_.push_back("expected " + test_.at("rule").get<std::string>());
    return std::move(failures_);
  }

 private:
  void compare(const std::vector<TensorValue>& tensors, const Json& expected, bool results) {
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      if (tensors[k].shape.empty()) continue;  // a scalar has no axes
      auto axes = found_.axes(tensors[k].name, results);
      if (!axes) failures_.push_back(tensors[k].name + " has no factors");
      for (std::size_t a = 0; axes && a < axes->size(); ++a)
        compare_axis(tensors[k], a, (*axes)[a], expected.at(k).at(a).get<std::vector<std::string>>());
    }
  }

  void compare_axis(const TensorValue& tensor, std::size_t axis, const std::vector<std::size_t>& got,
                    const std::vector<std::string>& expected) {
    auto where = [&] { return fmt::format("axis {} of {}", axis, tensor.name); };
    if (conservative_ && left_alone(got, tensor.shape.at(axis), expected)) return;
    if (got.size() != expected.size())
      return failures_.push_back(fmt::format("{}: got {} factors, expected {}", where(), got.size(), expected.size()));
    for (std::size_t k = 0; k < got.size(); ++k) {
      auto [at, fresh] = ours_.try_emplace(expected[k], got[k]);
      bool taken = fresh && !taken_.insert(got[k]).second;
      if (taken || at->second != got[k])
        failures_.push_back(fmt::format("{}: got {} for {}", where(), found_[got[k]].name, expected[k]));
      // A factor of size 1 says only that the axis is nobody else's.
      std::int64_t size = test_.at("factor_sizes").at(expected[k]);
      if (size != 1 && size != found_[got[k]].size)
        failures_.push_back(fmt::format("{}: got {}={}, expected {}={}", where(), found_[got[k]].name,
                                        found_[got[k]].size, expected[k], size));
    }
  }

  // In the conservative mode an axis along which cells move is nobody's: a factor of size 1, or one that is blocked.
  bool left_alone(const std::vector<std::size_t>& got, std::int64_t extent,
                  const std::vector<std::string>& expected) const {
    return extent != 1 && expected.size() == 1 && test_.at("factor_sizes").at(expected[0]) == 1 &&
           std::all_of(got.begin(), got.end(), [&](std::size_t f) { return moves_cells(found_[f]); });
  }

  void compare_kind(const std::string& name, std::size_t factor) {
    constexpr std::pair<FactorKind, const char*> sets[] = {{FactorKind::reduction, "reduction"},
                                                           {FactorKind::need_replication, "need_replication"},
                                                           {FactorKind::permutation, "permutation"}};
    if (test_.at("factor_sizes").at(name) == 1 && found_[factor].kind != FactorKind::reduction) return;
    auto compare = [&](const char* word, bool ours) {
      const Json& all = test_.at("factor_sets");
      bool is_expected = all.contains(word) &&
                         std::find(all.at(word).begin(), all.at(word).end(), name) != all.at(word).end();
      if (is_expected != ours)
        failures_.push_back(fmt::format("{} ({} here): {} to be in {}", name, found_[factor].name,
                                        is_expected ? "expected" : "not expected", word));
    };
    for (const auto& [kind, word] : sets) compare(word, found_[factor].kind == kind);
    if (conservative_) compare("blocked_propagation", moves_cells(found_[factor]));
  }

  const Json& test_;
  Found& found_;
  bool conservative_;
  std::map<std::string, std::size_t> ours_;  // by the case's name of a factor
  std::set<std::size_t> taken_;
  std::vector<std::string> failures_;
};

}  // namespace

std::string rule_tap(const Json&, const Json& test) {
  CaseOp op = op_of(test);
  Inputs given = inputs_of(op, pieces_of(test));
  TapLines lines;
  write_op(op, lines);
  std::string text, inputs, results;
  auto declare = [](std::string& list, const TensorValue& t) {
    list += fmt::format("{}{}: {}[{}]", list.empty() ? "" : ", ", t.name, t.type, fmt::join(t.shape, ", "));
  };
  for (const TensorValue& t : given.inputs) declare(inputs, t);
  for (const TensorValue& t : op.results) declare(results, t);
  for (const std::string& line : lines.declarations) text += line + "\n";
  text += fmt::format("program case({}) -> ({}) {{\n", inputs, results);
  for (const std::string& line : given.slices) text += "  " + line + "\n";
  for (const std::string& line : lines.body) text += "  " + line + "\n";
  return text + "}\n";
}

std::vector<std::string> rule_failures(const Json& file, const Json& test) {
  ir::Program program = compile_case(rule_tap(file, test));
  Found found(program);
  return RuleComparison(test, found).failures(op_of(test));
}

}  // namespace tap::conformance
