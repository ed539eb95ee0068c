#include "support/diagnostic.h"

#include <array>
#include <functional>
#include <string>

namespace tap {
namespace {

constexpr auto codes = std::to_array<CodeInfo>({
#define TAP_CODE(name, id, severity, title) {#name, id, Severity::severity, title},
#include "support/codes.def"
#undef TAP_CODE
});

std::size_t hash_of(const Diagnostic& d) {
  std::size_t h = std::hash<std::string>()(d.message);
  for (std::size_t part : {static_cast<std::size_t>(d.code), d.span.file.index(),
                           static_cast<std::size_t>(d.span.begin), static_cast<std::size_t>(d.span.end)})
    h = h * 0x9e3779b97f4a7c15u + part;
  return h;
}

}  // namespace

const CodeInfo& info(Code code) { return codes[static_cast<std::size_t>(code)]; }

const std::vector<Code>& all_codes() {
  static const std::vector<Code> all = [] {
    std::vector<Code> list;
    for (std::size_t i = 0; i < codes.size(); ++i) list.push_back(static_cast<Code>(i));
    return list;
  }();
  return all;
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::remark: return "remark";
  }
  return "";
}

// Diagnostics that differ only in labels or help say the same at the same location: one suffices.
void Diagnostics::report(Diagnostic diagnostic) {
  if (!seen_.insert(hash_of(diagnostic)).second) return;
  Severity severity = diagnostic.severity();
  if (severity == Severity::error && ++errors_ > max_shown) return;
  if (severity == Severity::warning && ++warnings_ > max_shown) return;
  all_.push_back(std::move(diagnostic));
}

}  // namespace tap
