#include "tests/frontend/grammar_check.h"

#include <fmt/format.h>

#include "compiler/frontend/syntax/antlr_support.h"

namespace tap {

namespace {

class Collector final : public antlr4::BaseErrorListener {
 public:
  explicit Collector(const TokenList& list) : list_(list) {}

  void syntaxError(antlr4::Recognizer*, antlr4::Token* token, std::size_t, std::size_t, const std::string&,
                   std::exception_ptr) override {
    complaints.push_back(fmt::format("error at `{}`", list_.text_of(token->getTokenIndex())));
  }
  void reportAmbiguity(antlr4::Parser*, const antlr4::dfa::DFA& dfa, std::size_t start, std::size_t stop, bool exact,
                       const antlrcpp::BitSet&, antlr4::atn::ATNConfigSet*) override {
    std::string_view text =
        list_.text.substr(list_.tokens[start].begin, list_.tokens[stop].end - list_.tokens[start].begin);
    complaints.push_back(
        fmt::format("{} ambiguity in decision {}: {}", exact ? "exact" : "possible", dfa.decision, text));
  }
  std::vector<std::string> complaints;

 private:
  const TokenList& list_;
};

}  // namespace

std::vector<std::string> grammar_complaints(const TokenList& list) {
  TokenWindow window(list);
  TapParser parser(&window);
  Collector collector(list);
  parser.removeErrorListeners();
  parser.addErrorListener(&collector);
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(
      antlr4::atn::PredictionMode::LL_EXACT_AMBIG_DETECTION);
  try {
    parser.file();
  } catch (const antlr4::ParseCancellationException&) {
    collector.complaints.push_back(fmt::format("does not parse at `{}`", list.text_of(window.index())));
  }
  return collector.complaints;
}

}  // namespace tap
