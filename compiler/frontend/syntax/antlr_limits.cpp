// Drives ANTLR: its tokens come from our list through a window that is discarded after each statement, its recursion
// depth is limited, and the first unexpected token ends a statement: there is no error recovery, and no message of
// ANTLR is used.
#include "compiler/frontend/syntax/antlr_support.h"
#include "support/check.h"

namespace tap {

namespace {

constexpr std::size_t type_of_kind[] = {
    antlr4::Token::EOF,
#define TAP_TOKEN(name, grammar, shown) TapParser::grammar,
#include "compiler/frontend/syntax/tokens.def"
#undef TAP_TOKEN
};

SyntaxProblem::Construct construct_of(std::size_t rule, TokenKind start) {
  using C = SyntaxProblem::Construct;
  switch (rule) {
    case TapParser::RuleExpr:
    case TapParser::RuleUnnamed:
    case TapParser::RuleArg: return C::expression;
    case TapParser::RuleNamed: return C::call_or_cell;
    case TapParser::RuleLowForm:
      if (start == TokenKind::if_) return C::conditional;
      if (start == TokenKind::let) return C::let;
      return start == TokenKind::iterate ? C::iterate : C::reduction;
    case TapParser::RuleLetBinding: return C::let;
    case TapParser::RuleRangeVar: return C::reduction;
    case TapParser::RuleStateBinding: return C::iterate;
    case TapParser::RuleSignature: return C::signature;
    case TapParser::RuleTensor: return C::tensor;
    case TapParser::RuleOpHead: return C::op_head;
    case TapParser::RuleProgramHead: return C::program_head;
    case TapParser::RuleDims:
    case TapParser::RuleDimDefault: return C::dim;
    case TapParser::RuleMesh:
    case TapParser::RuleMeshAxis:
    case TapParser::RuleDeviceList: return C::mesh;
    case TapParser::RuleMonoid:
    case TapParser::RuleMonoidClause:
    case TapParser::RuleComponent: return C::monoid;
    case TapParser::RuleExternOperator:
    case TapParser::RuleExternClause:
    case TapParser::RuleExternIndex: return C::outside_kernel;
    case TapParser::RuleRewriteRule: return C::rewrite;
    case TapParser::RuleStatement:
    case TapParser::RuleEquation: return C::statement;
    case TapParser::RuleBarrierStatement: return C::barrier;
    case TapParser::RuleSplitStatement:
    case TapParser::RuleBlock: return C::split;
    case TapParser::RuleGroupStatement: return C::group;
    case TapParser::RuleSharding:
    case TapParser::RuleDimSharding:
    case TapParser::RuleAxisItem:
    case TapParser::RuleAxisRef:
    case TapParser::RuleShardingClause: return C::sharding;
    case TapParser::RuleParamList:
    case TapParser::RuleParam:
    case TapParser::RuleParamArg: return C::parameters;
    default: return C::other;
  }
}

// No error recovery: the first unexpected token ends the statement.
class Strict final : public antlr4::ANTLRErrorStrategy {
 public:
  explicit Strict(const TokenList& list) : list_(list) {}
  void reset(antlr4::Parser*) override {}
  antlr4::Token* recoverInline(antlr4::Parser* parser) override { stop(parser); }
  void recover(antlr4::Parser* parser, std::exception_ptr) override { stop(parser); }
  void sync(antlr4::Parser*) override {}
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  void reportMatch(antlr4::Parser*) override {}
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException&) override { stop(parser); }

 private:
  [[noreturn]] void stop(antlr4::Parser* parser) {
    SyntaxProblem problem;
    problem.token = parser->getCurrentToken()->getTokenIndex();
    antlr4::ParserRuleContext* context = parser->getContext();
    problem.start = context->start->getTokenIndex();
    problem.construct = construct_of(context->getRuleIndex(), list_.kind(problem.start));
    antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
    for (std::size_t k = 0; k < std::size(type_of_kind); ++k)
      if (expected.contains(type_of_kind[k])) problem.expected.set(k);
    throw SyntaxError{problem};
  }
  const TokenList& list_;
};

}  // namespace

// ---- the token window

void TokenWindow::restart(std::size_t index) {
  objects_.clear();
  next_ = nullptr;
  at_ = index;
  base_ = index > 0 ? index - 1 : 0;
}

antlr4::Token* TokenWindow::get(std::size_t index) const {
  index = std::min(index, list_.tokens.size() - 1);
  TAP_CHECK(index >= base_, "a token before the statement was requested");
  while (base_ + objects_.size() <= index) {
    std::size_t next = base_ + objects_.size();
    objects_.emplace_back(type_of_kind[static_cast<std::size_t>(list_.kind(next))], next);
  }
  return &objects_[index - base_];
}

antlr4::Token* TokenWindow::LT(ssize_t k) {
  if (k == 1) {  // the parser asks for this one many times
    if (!next_ || next_at_ != at_) next_ = get(at_), next_at_ = at_;
    return next_;
  }
  return get(k > 0 ? at_ + static_cast<std::size_t>(k) - 1 : at_ - static_cast<std::size_t>(-k));
}

// ---- the parser with limits

LimitedParser::LimitedParser(TokenWindow& window, std::size_t max_depth)
    : TapParser(&window), window_(window), max_depth_(max_depth) {
  removeErrorListeners();
  setBuildParseTree(false);
}

void LimitedParser::restart(std::size_t index) {
  getTreeTracker().reset();
  chain_.clear();
  setContext(nullptr);
  window_.restart(index);
}

void LimitedParser::enterRule(antlr4::ParserRuleContext* context, std::size_t state, std::size_t rule) {
  TapParser::enterRule(context, state, rule);
  while (!chain_.empty() && chain_.back() != context->parent) chain_.pop_back();
  chain_.push_back(context);
  if (chain_.size() <= max_depth_) return;
  SyntaxProblem problem;
  problem.token = context->start->getTokenIndex();
  problem.too_deep = true;
  throw SyntaxError{problem};
}

std::shared_ptr<antlr4::ANTLRErrorStrategy> strict_errors(const TokenList& list) {
  return std::make_shared<Strict>(list);
}

}  // namespace tap
