// Shared by the antlr_*.cpp files: the token list as an ANTLR token stream, the generated parser with our limits and
// errors, and the builder of the syntax tree. Only they include this header, so that no other file depends on ANTLR.
#pragma once

#include <antlr4-runtime.h>

#include <deque>
#include <optional>
#include <vector>

#include "compiler/frontend/syntax/ast.h"
#include "compiler/frontend/syntax/syntax_messages.h"
#include "compiler/frontend/syntax/tokens.h"
#include "grammar/TapParser.h"

namespace tap {

using grammar::TapParser;

// A token for ANTLR.
class TokenObject final : public antlr4::Token {
 public:
  TokenObject(std::size_t type, std::size_t index) : type_(type), index_(index) {}
  std::string getText() const override { return {}; }
  std::size_t getType() const override { return type_; }
  std::size_t getLine() const override { return 0; }
  std::size_t getCharPositionInLine() const override { return 0; }
  std::size_t getChannel() const override { return 0; }
  std::size_t getTokenIndex() const override { return index_; }
  std::size_t getStartIndex() const override { return index_; }
  std::size_t getStopIndex() const override { return index_; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }

 private:
  std::size_t type_;
  std::size_t index_;
};

// Makes ANTLR objects for tokens only while their statement is parsed.
class TokenWindow final : public antlr4::TokenStream {
 public:
  explicit TokenWindow(const TokenList& list) : list_(list) {}

  // Drops all objects and continues at token `index`.
  void restart(std::size_t index);

  antlr4::Token* LT(ssize_t k) override;
  std::size_t LA(ssize_t k) override { return LT(k)->getType(); }
  antlr4::Token* get(std::size_t index) const override;
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  void consume() override { ++at_; }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override { at_ = index; }
  std::size_t size() override { return list_.tokens.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  const TokenList& list_;
  std::size_t base_ = 0;  // token index of the first object
  std::size_t at_ = 0;
  mutable std::deque<TokenObject> objects_;
  antlr4::Token* next_ = nullptr;  // the last result of LT(1), at this index
  std::size_t next_at_ = 0;
};

// Thrown from the generated parser by our error strategy, which does nothing else.
struct SyntaxError {
  SyntaxProblem problem;
};

class LimitedParser final : public TapParser {
 public:
  LimitedParser(TokenWindow& window, std::size_t max_depth);

  // Invalidates the last tree and continues at token `index`.
  void restart(std::size_t index);
  void enterRule(antlr4::ParserRuleContext* context, std::size_t state, std::size_t rule) override;

 private:
  TokenWindow& window_;
  std::size_t max_depth_;
  std::vector<antlr4::ParserRuleContext*> chain_;  // the rules being parsed, outermost first
};

// Stops at the first token that does not fit, with a SyntaxError.
std::shared_ptr<antlr4::ANTLRErrorStrategy> strict_errors(const TokenList& list);

// The magnitude of the least i64: as a literal it is legal only after a minus.
inline constexpr std::uint64_t two_to_63 = std::uint64_t{1} << 63;

// Builds the syntax tree from parse trees. Reports errors that the grammar cannot express and then throws Abandoned.
class AstBuilder {
 public:
  AstBuilder(const TokenList& list, const ParseLimits& limits, ast::Module& module, Diagnostics& diagnostics)
      : list_(list),
        module_(module),
        diagnostics_(diagnostics),
        max_prefixes_(limits.max_nesting),
        max_depth_(4 * limits.max_nesting),
        first_(module.exprs.size()) {}

  // antlr_declarations.cpp
  void declaration(TapParser::DeclarationContext* c, std::string doc, std::vector<ast::Declaration>& out);
  template <class Decl, class Head>
  void read_head(Decl& result, Head* head, std::string doc);
  ast::OpDecl op_head(TapParser::OpHeadContext* c, std::string doc);
  ast::ProgramDecl program_head(TapParser::ProgramHeadContext* c, std::string doc);
  // antlr_statements.cpp
  ast::Statement statement(TapParser::StatementContext* c);

 private:
  using ExprId = ast::ExprId;
  template <class C>
  using Contexts = std::vector<C*>;
  using Tokens = std::vector<antlr4::Token*>;

  // antlr_expressions.cpp
  ExprId named(TapParser::NamedContext* c);
  ExprId unnamed(TapParser::UnnamedContext* c);
  ExprId call(TapParser::NamedContext* c);
  ExprId cell_read(TapParser::NamedContext* c);
  ExprId group(const Contexts<TapParser::ExprContext>& subs, Span all);
  ExprId members(ExprId object, const Tokens& names, Span from);
  ExprId pack_of(ExprId of, antlr4::Token* dots);
  std::vector<ExprId> exprs(const Contexts<TapParser::ExprContext>& list);

  // antlr_forms.cpp
  ExprId low_form(TapParser::LowFormContext* c);
  ExprId let(TapParser::LowFormContext* c);
  ExprId iterate(TapParser::LowFormContext* c);
  ExprId reduce(const ast::Name& monoid, const Contexts<TapParser::RangeVarContext>& vars, std::vector<ExprId> operands,
                Span span);
  std::vector<ast::RangeVar> ranges(const Contexts<TapParser::RangeVarContext>& list);

  // antlr_literals.cpp
  ExprId literal(antlr4::Token* t);
  ExprId integer(antlr4::Token* t);
  ExprId floating(antlr4::Token* t);
  std::int64_t whole_number(antlr4::Token* t);

  // antlr_precedence.cpp
  struct Flat;
  ExprId expr(TapParser::ExprContext* c);
  ExprId operand(TapParser::ExprContext* c);
  ExprId result_value(TapParser::EquationContext* c);
  void flatten(Flat& flat, TapParser::ExprContext* c);
  ExprId climb(Flat& flat, int level);
  ExprId prefixed(Flat& flat, int level);
  ExprId operation(Flat& flat, ExprId left, std::size_t op, int level);

  // antlr_statements.cpp
  ast::Statement equation(TapParser::EquationContext* c, Span span);
  ast::Statement cells(TapParser::EquationContext* c, Contexts<TapParser::NamedContext>& left, Span span);
  ast::Statement whole(TapParser::EquationContext* c, Contexts<TapParser::NamedContext>& left, Span span);
  Contexts<TapParser::NamedContext> left_side(TapParser::EquationContext* c);
  ast::LeftSide cell(TapParser::NamedContext* c);
  ast::Statement split(TapParser::SplitStatementContext* c, Span span);
  ast::Statement barrier(TapParser::BarrierStatementContext* c, Span span);
  ast::Sharding sharding(TapParser::ShardingContext* c);
  ast::DimSharding dim_sharding(TapParser::DimShardingContext* c);
  ast::AxisRef axis(TapParser::AxisRefContext* c);
  std::optional<std::int64_t> priority(antlr4::Token* t);

  // antlr_declarations.cpp
  ast::MeshDecl mesh(TapParser::MeshContext* c);
  ast::MonoidDecl monoid(TapParser::MonoidContext* c, std::string doc);
  void monoid_clause(TapParser::MonoidClauseContext* c, ast::MonoidDecl& monoid);
  ast::ExternDecl outside(TapParser::ExternOperatorContext* c, std::string doc);
  void outside_clause(TapParser::ExternClauseContext* c, ast::ExternDecl& decl);
  ast::ExternAccess access(TapParser::ExternClauseContext* c);
  ast::TensorParam tensor(TapParser::TensorContext* c);
  std::vector<ast::TensorParam> tensors(const Contexts<TapParser::TensorContext>& list);
  std::vector<ast::Param> params(TapParser::ParamListContext* c);
  std::vector<ast::WhereClause> conditions(const Contexts<TapParser::ConditionContext>& list);
  bool is_broadcast_pack(TapParser::ExprContext* c) const;
  ast::DimItem dim_item(TapParser::ExprContext* c);

  Span span(antlr4::Token* t) const { return list_.span(t->getTokenIndex()); }
  Span span(antlr4::ParserRuleContext* c) const { return join(span(c->start), span(c->stop)); }
  std::string text(antlr4::Token* t) const { return std::string(list_.text_of(t->getTokenIndex())); }
  ast::Name name(antlr4::Token* t) const { return {text(t), span(t)}; }
  std::vector<ast::Name> names(const Tokens& tokens) const;
  TokenKind kind(antlr4::Token* t) const { return list_.kind(t->getTokenIndex()); }

  template <class Node>
  ExprId add(Span span, Node node, std::initializer_list<ExprId> children = {}) {
    std::size_t depth = 0;
    for (ExprId child : children) depth = std::max(depth, depth_of(child));
    return add_at(depth + 1, ast::Expr{span, std::move(node)});
  }
  template <class Node>
  ExprId add_list(Span span, Node node, std::size_t depth) {
    return add_at(depth + 1, ast::Expr{span, std::move(node)});
  }
  ExprId add_at(std::size_t depth, ast::Expr e);
  std::size_t depth_of(ExprId id) const { return id.valid() ? depth_[id.index() - first_] : 0; }
  std::size_t depth_of(const std::vector<ExprId>& ids) const;
  void respan(ExprId id, Span span) { module_.exprs[id.index()].span = span; }
  template <class Node>
  Node* node(ExprId id) {
    return std::get_if<Node>(&module_.exprs[id.index()].node);
  }

  [[noreturn]] void fail(Diagnostic d);
  [[noreturn]] void fail(Span at, std::string message, std::string help = {});

  const TokenList& list_;
  ast::Module& module_;
  Diagnostics& diagnostics_;
  std::size_t max_prefixes_;
  std::size_t max_depth_;
  std::size_t first_;                 // the first of our expressions in the module
  std::vector<std::uint16_t> depth_;  // by expression of ours: the height of its tree
};

}  // namespace tap
