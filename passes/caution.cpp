#include "passes/caution.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/rounding.h"
#include "passes/splits/split_operator.h"

namespace tap::passes {

using namespace ir;

std::string why_not_reassociated(const Program& program, const Operator& reduction, const Caution& caution) {
  const Monoid& monoid = program[*monoid_of(reduction)];
  const std::string name = "`" + monoid.name + "`";
  if (monoid.laws.associative == Law::broken) return name + " is not associative";
  if (caution.require_proof && monoid.laws.associative != Law::proved)
    return "that " + name + " is associative is assumed, not proved, and --require-proof is set";
  if (caution.strict_fp && rounds(monoid))
    return name + " rounds, and --strict-fp keeps the written order of float operations";
  return "";
}

std::string assumptions(const std::string& monoid, std::initializer_list<Law> laws, bool finite) {
  std::string text;
  if (std::find(laws.begin(), laws.end(), Law::assumed) != laws.end()) text = "the laws of `" + monoid + "` hold";
  if (finite)
    text += (text.empty() ? "" : " and ") + std::string("values are finite and the sign of a zero does not matter");
  return text.empty() ? "" : std::string(assuming) + text;
}

}  // namespace tap::passes
