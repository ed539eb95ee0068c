#include "compiler/frontend/rewrites/rule_source.h"

#include <algorithm>
#include <deque>

#include "compiler/frontend/rewrites/rule_graphs.h"
#include "compiler/frontend/rewrites/rule_types.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap {

namespace {

// Instances stay in a front end's program, so a new one is started after this many.
constexpr std::size_t answers_of_one = 256;

// One run of the front end over the file.
struct FrontEnd {
  FrontEnd(SourceMap& sources, FileId file, const CompileOptions& options)
      : elaboration(sources, options, diagnostics) {
    ModuleScope* scope = elaboration.definitions.load(file);
    TAP_CHECK(scope, "rules were requested from a file that does not parse");
    rules = elaboration.definitions.all_rewrites(*scope);
  }

  RuleTypes types_of(std::size_t rule, unsigned attempt) {
    const Definitions::Rewrite& r = rules[rule];
    Env env;
    env.module = r.module;
    env.scope = r.scope;
    scopes.push_back(std::move(env));
    return RuleTypes(elaboration, scopes.back(), *r.rule, attempt);
  }

  std::optional<RuleAtTypes> make(std::size_t rule, const std::map<std::string, ir::TensorType>& types) {
    const Definitions::Rewrite& r = rules[rule];
    auto instance = instantiate_rule(elaboration, {*r.module, *r.scope, *r.rule}, types);
    if (!instance) return std::nullopt;
    RuleTypes at = types_of(rule, 0);
    at.take(types);
    GuardValue guard = at.guard();
    return RuleAtTypes{elaboration.program, *instance, guard.holds, guard.text};
  }

  Diagnostics diagnostics;  // ignored: a type that does not fit a rule is an answer
  Elaboration elaboration;
  std::vector<Definitions::Rewrite> rules;
  std::deque<Env> scopes;  // for RuleTypes to refer to
};

}  // namespace

struct RuleSource::State {
  State(SourceMap& s, FileId f, const CompileOptions& given) : sources(s), file(f), options(given) {}

  FrontEnd& front_end() {
    if (!current || ++answers > answers_of_one) {
      current = std::make_unique<FrontEnd>(sources, file, options);
      answers = 0;
    }
    return *current;
  }

  SourceMap& sources;
  FileId file;
  CompileOptions options;
  std::unique_ptr<FrontEnd> current;
  std::size_t answers = 0;
  std::map<std::size_t, std::vector<std::string>> variables;  // by rule, once known
};

RuleSource::RuleSource(SourceMap& sources, FileId file, const CompileOptions& options)
    : state_(std::make_unique<State>(sources, file, options)) {}
RuleSource::~RuleSource() = default;

std::vector<std::string> RuleSource::texts() {
  FrontEnd& front_end = state_->front_end();
  std::vector<std::string> texts;
  for (const Definitions::Rewrite& r : front_end.rules)
    texts.push_back(text_of_rule(front_end.elaboration, *r.module, *r.rule));
  return texts;
}

// Prefers types at which the rule holds and no reduction has one or zero points: they show the rule's structure.
std::optional<RuleAtTypes> RuleSource::sample(std::size_t rule) {
  FrontEnd& front_end = state_->front_end();
  constexpr unsigned attempts = 40;
  std::optional<RuleAtTypes> best;
  int best_score = -1;
  for (unsigned attempt = 0; attempt < attempts && best_score < 2; ++attempt) {
    try {
      auto types = front_end.types_of(rule, attempt).choose();
      auto made = front_end.make(rule, types);
      if (!made) continue;
      bool small = std::any_of(types.begin(), types.end(), [](const auto& variable) {
        const Shape& shape = variable.second.shape;
        return std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n < 2; });
      });
      int score = made->holds + !small;
      if (score > best_score) best = std::move(made), best_score = score;
    } catch (const Abandoned&) {
    } catch (const Overflow&) {}
  }
  return best;
}

std::optional<RuleAtTypes> RuleSource::at(std::size_t rule, const std::vector<ir::TensorType>& types) {
  auto [known, fresh] = state_->variables.try_emplace(rule);
  if (fresh)
    if (auto made = sample(rule)) known->second = made->instance.variables;
  if (known->second.size() != types.size()) return std::nullopt;
  std::map<std::string, ir::TensorType> by_name;
  for (std::size_t k = 0; k < types.size(); ++k) by_name[known->second[k]] = types[k];
  try {
    return state_->front_end().make(rule, by_name);
  } catch (const Abandoned&) {
  } catch (const Overflow&) {}
  return std::nullopt;
}

}  // namespace tap
