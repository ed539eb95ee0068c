#include "compiler/frontend/proofs/laws_memory.h"

#include <z3++.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/text.h"

namespace tap {
namespace {

constexpr std::array<std::pair<ir::Law, const char*>, 3> law_words = {
    {{ir::Law::unknown, "unknown"}, {ir::Law::proved, "proved"}, {ir::Law::assumed, "assumed"}}};

ir::Monoid nameless(ir::Monoid monoid) {
  monoid.name = "m";
  monoid.laws = {};
  for (std::size_t k = 0; k < monoid.arity(); ++k) monoid.components[k].name = "c" + std::to_string(k);
  return monoid;
}

// The cells that the roots need, in an order determined by the roots alone.
struct Copied {
  ir::CellExprs exprs;
  std::map<ir::CellId, ir::CellId> as;
};
template <class Renumbered>
ir::CellId copy(const ir::CellExprs& from, ir::CellId cell, Copied& to, Renumbered renumbered) {
  if (auto known = to.as.find(cell); known != to.as.end()) return known->second;
  ir::CellNode node = from[cell];
  for (ir::CellId& arg : node.args) arg = copy(from, arg, to, renumbered);
  if (node.op == ir::CellOp::reduce) node.attribute = renumbered(node.attribute);
  return to.as[cell] = to.exprs.add(std::move(node));
}
template <class Renumbered>
void copy_roots(ir::CellExprs& exprs, std::vector<std::vector<ir::CellId>*> roots, Renumbered renumbered) {
  Copied to;
  for (auto* list : roots)
    for (ir::CellId& root : *list) root = copy(exprs, root, to, renumbered);
  exprs = std::move(to.exprs);
}

ir::Monoid canonical(ir::Monoid monoid) {
  monoid = nameless(std::move(monoid));
  copy_roots(monoid.exprs, {&monoid.identity, &monoid.combine}, [](std::uint32_t number) { return number; });
  return monoid;
}

}  // namespace

std::string law_key(const ir::Program& program, const ir::Monoid& monoid) {
  ir::Program alone;
  ir::Monoid copied = canonical(monoid);
  std::vector<std::uint32_t> used;  // by the fold, in the order of its cells
  if (copied.fold)
    copy_roots(copied.fold->exprs, {&copied.fold->roots}, [&](std::uint32_t number) {
      auto at = std::find(used.begin(), used.end(), number);
      if (at == used.end()) at = used.insert(at, number);
      return static_cast<std::uint32_t>(at - used.begin());
    });
  for (std::uint32_t number : used) alone.monoids.push_back(canonical(program[ir::MonoidId(number)]));
  alone.monoids.push_back(std::move(copied));
  return std::string("laws 3, Z3 ") + Z3_get_full_version() + "\n" + ir::print(alone);
}

std::string to_text(const LawVerdict& verdict) {
  std::string text;
  const ir::MonoidLaws& laws = verdict.laws;
  for (ir::Law law : {laws.associative, laws.identity, laws.commutative, laws.fold}) {
    auto word = std::find_if(law_words.begin(), law_words.end(), [&](const auto& w) { return w.first == law; });
    text += std::string(word == law_words.end() ? "broken" : word->second) + " ";
  }
  text += "\n";
  for (const LawDoubt& doubt : verdict.assumed) text += doubt.law + " " + doubt.why + "\n";
  return text;
}

std::optional<LawVerdict> parse_verdict(const std::string& text) {
  LawVerdict verdict;
  std::istringstream lines(text);
  std::string line, word;
  if (!std::getline(lines, line)) return std::nullopt;
  std::istringstream first(line);
  ir::MonoidLaws& laws = verdict.laws;
  for (ir::Law* law : {&laws.associative, &laws.identity, &laws.commutative, &laws.fold}) {
    if (!(first >> word)) return std::nullopt;
    auto known = std::find_if(law_words.begin(), law_words.end(), [&](const auto& w) { return w.second == word; });
    if (known == law_words.end() && (word != "broken" || law != &laws.commutative)) return std::nullopt;
    *law = known == law_words.end() ? ir::Law::broken : known->first;
  }
  while (std::getline(lines, line)) {
    auto space = line.find(' ');
    if (space == line.npos) return std::nullopt;
    verdict.assumed.push_back({line.substr(0, space), line.substr(space + 1)});
  }
  return verdict;
}

const LawVerdict& LawMemory::verdict(const ir::Program& program, const ir::Monoid& monoid) {
  std::string key = law_key(program, monoid);
  if (auto known = known_.find(key); known != known_.end()) return known->second;
  if (store_)
    if (auto text = store_->find(key))
      if (auto verdict = parse_verdict(*text)) return known_[key] = std::move(*verdict);
  LawVerdict verdict = check_laws(program, monoid);
  if (store_ && verdict.broken.empty()) store_->store(key, to_text(verdict));
  return known_[key] = std::move(verdict);
}

}  // namespace tap
