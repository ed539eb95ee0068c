#include <fmt/format.h>

#include "ir/text/certificate_text.h"
#include "ir/text/parse_program.h"

namespace tap::ir {
namespace {

class CertificateParser {
 public:
  explicit CertificateParser(std::string_view text) : rest_(text) {}

  Certificate run() {
    while (!rest_.empty()) {
      std::size_t end = std::min(rest_.find('\n'), rest_.size());
      last_ = Line(rest_.substr(0, end), ++number_);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (last_.at_end()) continue;
      if (ended_) last_.fail("unexpected text after `end`");
      if (started_) take(last_);
      else header(last_);
      last_.expect_end();
    }
    if (!ended_) last_.fail("the certificate is truncated: its last line must be `end`");
    return std::move(certificate_);
  }

 private:
  void header(Line& line) {
    line.expect("tap-certificate");
    std::int64_t version = line.integer();
    if (version != certificate_version)
      line.fail(
          fmt::format("the certificate has version {}; the supported version is {}", version, certificate_version));
    started_ = true;
  }

  void take(Line& line) {
    std::string_view keyword = line.word();
    if (keyword == "end") ended_ = true;
    else if (keyword == "step") certificate_.steps.push_back({line.name(), {}, {}, {}}), claim_ = nullptr;
    else if (certificate_.steps.empty()) line.fail(fmt::format("`{}` before the first step", keyword));
    else if (keyword == "before") step().before = line.quoted_text();
    else if (keyword == "after") step().after = line.quoted_text();
    else if (keyword == "made") step().made = line.word_of(words::stages, "kind of stage");
    else if (keyword == "graph") step().graphs.push_back(graph(line)), claim_ = &step().graphs.back();
    else if (keyword == "alternative") step().alternatives.push_back({graph(line)}), claim_ = &alternative(line).claim;
    else if (keyword == "rule") rule(line);
    else if (keyword == "pattern") pattern(line);
    else if (!claim_) line.fail(fmt::format("`{}` before the first graph", keyword));
    else in_graph(keyword, line);
  }

  GraphClaim graph(Line& line) {
    GraphClaim claim;
    claim.after = GraphId(line.any_number());
    line.expect_word("of");
    claim.before = GraphId(line.any_number());
    if (line.eat_word("steps")) {
      claim.steps = line.integer();
      line.expect_word("from");
      claim.first = line.integer();
    }
    return claim;
  }

  AlternativeClaim& alternative(Line& line) {
    if (step().alternatives.empty()) line.fail("this line must follow an alternative");
    return step().alternatives.back();
  }
  void rule(Line& line) {
    RuleUse use{line.any_number(), {}, {}, {}};
    use.inputs = numbers(line);
    use.outputs = numbers(line);
    alternative(line).rule = std::move(use);
  }
  void pattern(Line& line) {
    std::optional<RuleUse>& use = alternative(line).rule;
    if (!use) line.fail("a pattern must follow its rule");
    use->pattern = graph(line);
    claim_ = &use->pattern;
  }

  void in_graph(std::string_view keyword, Line& line) {
    GraphClaim& claim = *claim_;
    if (keyword == "value") {
      expect_number(line, claim.values.size());
      line.expect_word("is");
      std::optional<ValueRef> ref;
      if (!line.eat_word("new")) ref = value(line);
      claim.values.push_back(std::move(ref));
    } else if (keyword == "operation") {
      expect_number(line, claim.operations.size());
      claim.operations.push_back(justification(line));
    } else if (keyword == "copies") {
      claim.copies.push_back(operation(line));
    } else if (keyword == "alike") {
      OperationRef kept = operation(line);
      line.expect(",");
      claim.equal.push_back({std::move(kept), operation(line)});
    } else {
      of_simplified(keyword, line, claim);
    }
  }

  // The lines under `operation n simplified m`.
  static void of_simplified(std::string_view keyword, Line& line, GraphClaim& claim) {
    auto* simplified = claim.operations.empty() ? nullptr : std::get_if<Simplified>(&claim.operations.back());
    if (!simplified || (keyword != "cell" && keyword != "use"))
      line.fail(fmt::format("`{}` does not begin a claim", keyword));
    if (keyword == "cell") {
      parsing::References references;
      parsing::parse_cell(line, simplified->terms, references);
      return;
    }
    AxiomUse use{line.quoted_text(), {}};
    use.variables = line.list("(", ")", [&] { return line.cell_of(simplified->terms); });
    simplified->uses.push_back(std::move(use));
  }

  static void expect_number(Line& line, std::size_t expected) {
    std::size_t number = line.any_number();
    if (number != expected) line.fail(fmt::format("found number {}, expected {}", number, expected));
  }

  // 2/3:1/5: the path, and the number at its end.
  static std::pair<Path, std::uint32_t> path_and_number(Line& line) {
    Path path;
    while (true) {
      std::uint32_t number = line.any_number(), alternative = line.eat(":") ? line.any_number() : 0;
      if (!line.eat("/")) {
        if (alternative != 0) line.fail("a path ends in an alternative");
        return {std::move(path), number};
      }
      path.push_back({OperationId(number), alternative});
    }
  }
  static OperationRef operation(Line& line) {
    auto [path, number] = path_and_number(line);
    return {std::move(path), OperationId(number)};
  }
  static ValueRef value(Line& line) {
    auto [path, number] = path_and_number(line);
    ValueRef ref{std::move(path), ValueId(number), {}};
    if (line.eat_word("at")) ref.step = line.integer();
    return ref;
  }
  static std::vector<OperationRef> operations(Line& line) {
    return line.list("(", ")", [&] { return operation(line); });
  }
  static std::vector<std::uint32_t> numbers(Line& line) {
    return line.list("(", ")", [&] { return line.any_number(); });
  }
  static std::vector<ComposedRead> composed_reads(Line& line, int depth = 0) {
    if (depth > 256) line.fail("compositions are nested deeper than 256");
    return line.list("(", ")", [&] {
      line.expect_word("read");
      ComposedRead read{line.any_number(), {}, {}};
      line.expect_word("by");
      read.producer = operation(line);
      if (line.at_parenthesis()) read.reads = composed_reads(line, depth + 1);
      return read;
    });
  }
  static OperationId number_after(Line& line, std::string_view word) {
    line.expect_word(word);
    return OperationId(line.any_number());
  }

  static FoldOf fold(Line& line, OperationRef of) {
    FoldOf fold{std::move(of)};
    line.expect_word("dim");
    fold.dim = line.any_number();
    line.expect_word("by");
    fold.size = line.integer();
    return fold;
  }

  static Justification justification(Line& line) {
    std::string_view kind = line.word();
    if (kind == "transfer") return TransferOf{};
    if (kind == "copy") return WholeCopy{};
    if (kind == "group") return GroupOf{operations(line)};
    if (kind == "offered") return OfferedFor{operations(line)};
    OperationRef from = operation(line);
    if (kind == "copied") return Copied{from};
    if (kind == "product") return ProductOf{from, numbers(line)};
    if (kind == "reordered") return Reordered{from, numbers(line)};
    if (kind == "simplified") return Simplified{from, {}, {}};
    if (kind == "composed") return Composed{from, composed_reads(line)};
    if (kind == "blocked") return BlockedFrom{from};
    if (kind == "partial") {
      line.expect_word("dim");
      std::uint32_t dim = line.any_number();
      line.expect_word("by");
      return PartialOf{from, dim, line.any_number()};
    }
    if (kind == "combination") return CombinationOf{from, number_after(line, "of")};
    if (kind == "local_scan") return LocalScanOf{from};
    if (kind == "totals") return TotalsOf{from};
    if (kind == "carry") return CarryOf{from, number_after(line, "of")};
    if (kind == "carried_scan") {
      OperationId carry = number_after(line, "of");
      line.expect(",");
      return CarriedScanOf{from, carry, OperationId(line.any_number())};
    }
    if (kind == "step") {
      line.expect_word("at");
      return TripOf{from, line.integer()};
    }
    if (kind == "point") return PointOf{from};
    if (kind == "staged") return StagedOf{from};
    if (kind == "placed") return PlacedFrom{from, number_after(line, "from")};
    if (kind == "fold") return fold(line, std::move(from));
    line.fail(fmt::format("`{}` is not a justification", kind));
  }

  Step& step() { return certificate_.steps.back(); }

  std::string_view rest_;
  std::size_t number_ = 0;
  Line last_{"", 0};
  bool started_ = false, ended_ = false;
  Certificate certificate_;
  GraphClaim* claim_ = nullptr;  // the claim that the next lines belong to
};

}  // namespace

std::variant<Certificate, TextError> parse_certificate(std::string_view text) {
  try {
    return CertificateParser(text).run();
  } catch (const TextFailure& failure) { return TextError{failure.line, failure.message, failure.column}; }
}

}  // namespace tap::ir
