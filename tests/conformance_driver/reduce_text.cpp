#include "tests/conformance_driver/reduce_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace tap::conformance {
namespace {

struct Combiner {
  std::string_view names, reduction, both, identity;
};
constexpr Combiner combiners[] = {
    {"add", "sum", "p.{0} + q.{0}", "0"},
    {"multiply", "prod", "p.{0} * q.{0}", "1"},
    {"maximum", "max", "max(p.{0}, q.{0})", "{}.min"},
    {"minimum", "min", "min(p.{0}, q.{0})", "{}.max"},
    {"and", "all", "p.{0} and q.{0}", "true"},
    {"or", "any", "p.{0} or q.{0}", "false"},
};

const Combiner& combiner_of(const Attributes& attributes) {
  std::string word = attributes.word("combiner");
  if (word.empty())
    if (std::size_t at = attributes.text().find("applies stablehlo."); at != std::string::npos)
      word = attributes.text().substr(at + 18, attributes.text().find(' ', at + 18) - at - 18);
  for (const Combiner& combiner : combiners)
    if (word == combiner.names) return combiner;
  return combiners[0];
}

}  // namespace

// The initial values are the combiner's identity, as their definition wants, and are not read.
void write_reduce(const CaseOp& op, TapLines& lines) {
  std::vector<std::int64_t> dims = op.attributes.integers(op.attributes.has("dims") ? "dims" : "dimensions");
  const TensorValue& x = op.operands.at(0);
  std::vector<std::string> names, reduced, written;
  for (std::size_t a = 0; a < x.shape.size(); ++a) {
    bool reduced_away = std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(a)) != dims.end();
    names.push_back(fmt::format("{}{}", reduced_away ? 'k' : 'i', a));
    (reduced_away ? reduced : written).push_back(names.back());
  }
  const Combiner& combiner = combiner_of(op.attributes);
  if (op.results.size() == 1) {
    lines.body.push_back(fmt::format("{} = {}[{}] {}", cell(op.results.at(0).name, written), combiner.reduction,
                                     fmt::join(reduced, ", "), cell(x.name, names)));
    return;
  }
  // Several at once: one monoid of as many components.
  std::string monoid = "of_" + op.results.at(0).name, fields, identities, both, left, right;
  for (std::size_t r = 0; r < op.results.size(); ++r) {
    std::string comma = r == 0 ? "" : ", ", field = fmt::format("a{}", r);
    fields += fmt::format("{}{}: {}", comma, field, op.results.at(r).type);
    identities += comma + fmt::format(fmt::runtime(combiner.identity), op.results.at(r).type);
    both += comma + fmt::format(fmt::runtime(combiner.both), field);
    left += comma + cell(op.results.at(r).name, written);
    right += comma + cell(op.operands.at(r).name, names);
  }
  lines.declarations.push_back(
      fmt::format("monoid {}({}) {{ identity ({}) combine (p, q) = ({}) }}", monoid, fields, identities, both));
  lines.body.push_back(fmt::format("({}) = {}[{}] ({})", left, monoid, fmt::join(reduced, ", "), right));
}

}  // namespace tap::conformance
