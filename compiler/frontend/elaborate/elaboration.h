// Everything that one run of the front end shares: sources, diagnostics, definitions, the program being built, caches.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "compiler/frontend/elaborate/compile_options.h"
#include "compiler/frontend/elaborate/definitions.h"
#include "compiler/frontend/elaborate/environment.h"
#include "compiler/frontend/proofs/laws_memory.h"
#include "compiler/frontend/proofs/legality.h"
#include "ir/author_names.h"
#include "ir/graph_ids.h"
#include "support/diagnostic.h"
#include "support/quoted.h"

namespace tap {

// A specialised operator, with everything that a call needs.
struct Instance {
  ir::OperatorId op;
  std::vector<ir::TensorType> results;
  std::vector<std::string> result_names;
  std::optional<ir::OperationNames> names = std::nullopt;  // if its first occurrence had other names
};

// A monoid specialised for its use. `types` are the declared component types; f16 and bf16 combine in f32.
struct MonoidInstance {
  ir::MonoidId id;
  std::vector<ElementType> types;
};

struct Elaboration {
  Elaboration(SourceMap& s, const CompileOptions& o, Diagnostics& d);
  Elaboration(const Elaboration&) = delete;
  Elaboration& operator=(const Elaboration&) = delete;
  ~Elaboration();

  SourceMap& sources;
  const CompileOptions& options;
  Diagnostics* diagnostics;  // replaced during trials
  Definitions definitions;
  struct Built;
  std::unique_ptr<Built> built;
  ir::Program& program;    // of `built`
  ir::Interner& interner;  // likewise
  Provenance provenance;
  Legality legality;

  // By declaration and binding; none: it had errors, which were reported.
  std::map<std::pair<const ast::Declaration*, std::string>, std::optional<Instance>> instances;
  std::vector<const ast::Declaration*> instantiating;  // the chain of calls being specialised
  std::map<std::pair<const ast::Declaration*, std::string>, std::optional<MonoidInstance>> monoids;  // likewise
  LawMemory own_laws;  // used if the options have none
  std::map<std::pair<std::string, ElementType>, ir::MonoidId> builtin_monoids;
  std::set<const ast::Declaration*> instantiated;
  std::vector<bool> reads_proved;                                         // by OperatorId
  std::map<std::pair<ir::OperatorId, std::uint32_t>, bool> write_proved;  // sole writers

  // Calls being specialised, outermost first: a message about an operator's body also shows the call.
  struct CallSite {
    std::string callee;
    Span span;
  };
  std::vector<CallSite> call_sites;
  struct Called {
    Called(Elaboration& s, std::string callee, Span span) : elaboration(s) {
      elaboration.call_sites.push_back({std::move(callee), span});
    }
    Called(const Called&) = delete;
    ~Called() { elaboration.call_sites.pop_back(); }
    Elaboration& elaboration;
  };

  // The number of operations if all calls are inlined; of the graphs requested so far.
  std::map<ir::GraphId, std::size_t> written_out;
  std::size_t count_expanded(ir::GraphId graph);

  LawMemory& laws() { return options.laws ? *options.laws : own_laws; }
  void report(Diagnostic d);
  [[noreturn]] void fail(Diagnostic d) {
    report(std::move(d));
    throw Abandoned{};
  }
};

inline constexpr const char* help_for_recursion =
    "operators cannot be recursive; to repeat a computation, use `iterate`";

// 1 dim, 2 dims
inline std::string counted(std::size_t n, std::string_view one, std::string_view many = {}) {
  std::string plural = many.empty() ? std::string(one) + "s" : std::string(many);
  return std::to_string(n) + " " + (n == 1 ? std::string(one) : plural);
}

// Adds the help `did you mean …?` and its fix, if a known name is similar.
inline Diagnostic with_near_name(Diagnostic d, Span at, std::string_view name, const std::vector<std::string>& known) {
  if (auto near = did_you_mean(name, known)) d.help("did you mean " + quoted(*near) + "?").fix(at, *near);
  return d;
}

}  // namespace tap
