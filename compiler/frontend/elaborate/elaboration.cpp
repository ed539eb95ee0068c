#include "compiler/frontend/elaborate/elaboration.h"

#include <algorithm>

#include "ir/graph.h"

namespace tap {

struct Elaboration::Built {
  ir::Program program;
  ir::Interner interner{program};
};

Elaboration::Elaboration(SourceMap& s, const CompileOptions& o, Diagnostics& d)
    : sources(s),
      options(o),
      diagnostics(&d),
      definitions(s, d, o.standard_library),
      built(std::make_unique<Built>()),
      program(built->program),
      interner(built->interner) {}

Elaboration::~Elaboration() = default;

namespace {

bool contains(Span outer, Span inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

}  // namespace

// A library's operators are correct, so the error is in the user's call: `add(x, z)` with [3] and [2] is reported
// there, with the location in the library as second label.
std::size_t Elaboration::count_expanded(ir::GraphId graph) {
  if (auto known = written_out.find(graph); known != written_out.end()) return known->second;
  std::size_t count = 0;
  for (const ir::Operation& operation : program[graph].operations) {
    const ir::RegionBody* region = program[operation.op].region();
    count += region ? count_expanded(region->graph) : 1;
  }
  return written_out[graph] = count;
}

void Elaboration::report(Diagnostic d) {
  auto in_library = [&](Span span) { return span.valid() && definitions.is_library(span.file); };
  auto site = std::find_if(call_sites.rbegin(), call_sites.rend(),
                           [&](const CallSite& call) { return call.span.valid() && !in_library(call.span); });
  if (d.severity() == Severity::error && in_library(d.span) && site != call_sites.rend()) {
    d.labels.insert(d.labels.begin(), {d.span, d.caret.empty() ? "required here" : d.caret});
    d.span = site->span;
    d.caret.clear();
    if (std::any_of(d.fixes.begin(), d.fixes.end(), [&](const Fix& fix) { return in_library(fix.span); })) {
      d.fixes.clear();
      d.help_text.clear();
    }
  } else if (!call_sites.empty() && !contains(call_sites.back().span, d.span)) {
    d.label(call_sites.back().span, "in this call of `" + call_sites.back().callee + "`");
  }
  diagnostics->report(std::move(d));
}

}  // namespace tap
