#include <fmt/format.h>

#include "ir/text/certificate_text.h"
#include "ir/text/print_cell.h"
#include "ir/text/text_tables.h"
#include "ir/text_names.h"

namespace tap::ir {
namespace {

std::string written(const Path& path) {
  std::string text;
  for (const PathStep& step : path) {
    text += fmt::format("{}", step.operation.index());
    if (step.alternative != 0) text += fmt::format(":{}", step.alternative);
    text += "/";
  }
  return text;
}
std::string written(const OperationRef& ref) { return fmt::format("{}{}", written(ref.path), ref.operation.index()); }
std::string written(const ValueRef& ref) {
  std::string step = ref.step ? fmt::format(" at {}", *ref.step) : "";
  return fmt::format("{}{}{}", written(ref.path), ref.value.index(), step);
}
std::string written(const std::vector<OperationRef>& refs) {
  std::vector<std::string> parts;
  for (const OperationRef& ref : refs) parts.push_back(written(ref));
  return "(" + joined(parts) + ")";
}
std::string written(const std::vector<ComposedRead>& reads) {
  std::vector<std::string> parts;
  for (const ComposedRead& read : reads) {
    std::string more = read.reads.empty() ? "" : " " + written(read.reads);
    parts.push_back(fmt::format("read {} by {}{}", read.read, written(read.producer), more));
  }
  return "(" + joined(parts) + ")";
}

std::string written(const std::vector<std::uint32_t>& numbers) { return fmt::format("({})", fmt::join(numbers, ", ")); }

std::string text_for(const Copied& j) { return "copied " + written(j.from); }
std::string text_for(const Simplified& j) {
  std::string text = "simplified " + written(j.from);
  for (std::size_t k = 0; k < j.terms.size(); ++k) text += "\n      " + cell_line(j.terms, CellId(k));
  for (const AxiomUse& use : j.uses) {
    std::vector<std::string> variables;
    for (CellId cell : use.variables) variables.push_back(fmt::format("{}", cell.index()));
    text += fmt::format("\n      use {} ({})", quoted(use.axiom), joined(variables));
  }
  return text;
}
std::string text_for(const Composed& j) { return fmt::format("composed {} {}", written(j.consumer), written(j.reads)); }
std::string text_for(const BlockedFrom& j) { return "blocked " + written(j.from); }
std::string text_for(const PartialOf& j) {
  return fmt::format("partial {} dim {} by {}", written(j.of), j.dim, j.block_dim);
}
std::string text_for(const CombinationOf& j) {
  return fmt::format("combination {} of {}", written(j.of), j.partial.index());
}
std::string text_for(const LocalScanOf& j) { return "local_scan " + written(j.of); }
std::string text_for(const TotalsOf& j) { return "totals " + written(j.of); }
std::string text_for(const CarryOf& j) { return fmt::format("carry {} of {}", written(j.of), j.totals.index()); }
std::string text_for(const CarriedScanOf& j) {
  return fmt::format("carried_scan {} of {}, {}", written(j.of), j.carry.index(), j.local.index());
}
std::string text_for(const GroupOf& j) { return "group " + written(j.from); }
std::string text_for(const OfferedFor& j) { return "offered " + written(j.from); }
std::string text_for(const TripOf& j) { return fmt::format("step {} at {}", written(j.from), j.step); }
std::string text_for(const TransferOf&) { return "transfer"; }
std::string text_for(const PointOf& j) { return "point " + written(j.of); }
std::string text_for(const StagedOf& j) { return "staged " + written(j.of); }
std::string text_for(const PlacedFrom& j) { return fmt::format("placed {} from {}", written(j.of), j.staged.index()); }
std::string text_for(const FoldOf& j) { return fmt::format("fold {} dim {} by {}", written(j.of), j.dim, j.size); }

std::string text_for(const ProductOf& j) { return fmt::format("product {} {}", written(j.of), written(j.dims)); }
std::string text_for(const Reordered& j) { return fmt::format("reordered {} {}", written(j.from), written(j.dims)); }
std::string text_for(const WholeCopy&) { return "copy"; }

void print(std::string& text, const GraphClaim& claim, std::string_view kind) {
  std::string steps = claim.steps == 1 && claim.first == 0 ? ""
                                                           : fmt::format(" steps {} from {}", claim.steps, claim.first);
  text += fmt::format("  {} {} of {}{}\n", kind, claim.after.index(), claim.before.index(), steps);
  for (std::size_t v = 0; v < claim.values.size(); ++v)
    text += fmt::format("    value {} is {}\n", v, claim.values[v] ? written(*claim.values[v]) : "new");
  for (std::size_t o = 0; o < claim.operations.size(); ++o) {
    std::string words = std::visit([](const auto& j) { return text_for(j); }, claim.operations[o]);
    text += fmt::format("    operation {} {}\n", o, words);
  }
  for (const OperationRef& copy : claim.copies) text += fmt::format("    copies {}\n", written(copy));
  for (const EqualOperations& e : claim.equal)
    text += fmt::format("    alike {}, {}\n", written(e.kept), written(e.other));
}

}  // namespace

std::string print(const Certificate& certificate) {
  std::string text = fmt::format("tap-certificate {}\n", certificate_version);
  for (const Step& step : certificate.steps) {
    text += fmt::format("step {}\n  before {}\n  after {}\n", written_name(step.pass), quoted(step.before),
                        quoted(step.after));
    if (step.made != StageKind::program) text += fmt::format("  made {}\n", words::text_of(words::stages, step.made));
    for (const GraphClaim& claim : step.graphs) print(text, claim, "graph");
    for (const AlternativeClaim& alternative : step.alternatives) {
      print(text, alternative.claim, "alternative");
      if (!alternative.rule) continue;
      const auto& [instance, inputs, outputs, pattern] = *alternative.rule;
      text += fmt::format("  rule {} {} {}\n", instance, written(inputs), written(outputs));
      print(text, pattern, "pattern");
    }
  }
  return text + "end\n";
}

}  // namespace tap::ir
