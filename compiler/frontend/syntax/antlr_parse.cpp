// Drives the parser that ANTLR generated from grammar/Tap.g4, one declaration or statement at a time: each is
// converted to the syntax tree and its parse tree is freed, so memory does not grow with the length of a body. An
// error ends its statement only; parsing continues at the next one.
#include <fmt/format.h>

#include "compiler/frontend/syntax/antlr_support.h"
#include "compiler/frontend/syntax/division_comments.h"

namespace tap {

namespace {

constexpr std::int64_t language_version = 1;

class FileParser {
 public:
  FileParser(const TokenList& list, const ParseLimits& limits, ast::Module& module, Diagnostics& diagnostics)
      : list_(list),
        limits_(limits),
        module_(module),
        diagnostics_(diagnostics),
        window_(list),
        parser_(window_, 8 * limits.max_nesting),
        builder_(list, limits, module, diagnostics) {
    parser_.setErrorHandler(strict_errors(list));
  }

  void version_line() {
    if (list_.kind(0) != TokenKind::tap) return;
    at_ = list_.kind(2) == TokenKind::semicolon ? 3 : 2;
    std::string_view number = list_.text_of(1);
    if (number == "1") {
      module_.version = language_version;
      return;
    }
    diagnostics_.report(Diagnostic(Code::version_too_new, list_.span(1),
                                   fmt::format("the file requires version {} of Tap; this compiler supports version {}",
                                               number, language_version))
                            .help("write `tap 1`, or use a newer compiler")
                            .fix(list_.span(1), "1"));
  }

  void declarations() {
    while (list_.kind(at_) != TokenKind::end) declaration();
  }

 private:
  // Runs `work` from token at_; on an error, reports it and returns false. Afterwards at_ is where parsing stopped.
  template <class Work>
  bool attempt(Work work) {
    parser_.restart(at_);
    bool good = false;
    try {
      work();
      good = true;
    } catch (const SyntaxError& e) {
      if (!faulty(at_, e.problem.token)) diagnostics_.report(syntax_message(list_, e.problem, limits_));
    } catch (const Abandoned&) {}
    at_ = window_.index();
    return good;
  }

  // Whether a fault was reported among these tokens, or directly after them: a syntax error is then probably its
  // consequence.
  bool faulty(std::size_t first, std::size_t last) const {
    return std::any_of(list_.faults.begin(), list_.faults.end(),
                       [&](std::uint32_t fault) { return fault >= first && fault <= last + 1; });
  }

  void declaration() {
    std::size_t start = at_;
    bool good = false;
    switch (list_.kind(at_)) {
      case TokenKind::op: good = body_of(&FileParser::op_head); break;
      case TokenKind::program: good = body_of(&FileParser::program_head); break;
      case TokenKind::use:
      case TokenKind::dim:
      case TokenKind::mesh:
      case TokenKind::monoid:
      case TokenKind::extern_:
      case TokenKind::rewrite:
        good = attempt([&] { builder_.declaration(parser_.declaration(), doc_before(start), module_.declarations); });
        break;
      default:
        if (!faulty(at_, at_)) diagnostics_.report(not_a_declaration(list_, at_));
    }
    if (!good) at_ = next_declaration(start);
  }

  bool op_head() {
    std::size_t start = at_;
    return attempt([&] {
      auto* c = parser_.opHead();
      module_.declarations.push_back({list_.span(start), builder_.op_head(c, doc_before(start))});
    });
  }
  bool program_head() {
    std::size_t start = at_;
    return attempt([&] {
      auto* c = parser_.programHead();
      module_.declarations.push_back({list_.span(start), builder_.program_head(c, doc_before(start))});
    });
  }

  // A head up to its `{`, then statements up to its `}`.
  bool body_of(bool (FileParser::*head)()) {
    if (!(this->*head)()) return false;
    std::size_t close = list_.partner[at_ - 1];
    std::vector<ast::Statement> body;
    while (at_ < close) {
      std::size_t start = at_;
      if (!attempt([&] { body.push_back(builder_.statement(parser_.statement())); }))
        at_ = next_statement(start, at_, close);
    }
    ast::Declaration& decl = module_.declarations.back();
    decl.span = join(decl.span, list_.span(close));
    if (auto* op = std::get_if<ast::OpDecl>(&decl.node)) op->body = std::move(body);
    if (auto* program = std::get_if<ast::ProgramDecl>(&decl.node)) program->body = std::move(body);
    at_ = close + 1;
    while (list_.kind(at_) == TokenKind::semicolon) ++at_;
    return true;
  }

  std::size_t step_over(std::size_t i) const {
    bool opener = opens(list_.kind(i)) && list_.partner[i] != TokenList::none;
    return (opener ? list_.partner[i] : i) + 1;
  }

  std::size_t next_declaration(std::size_t start) const {
    std::size_t i = step_over(start);
    for (; list_.kind(i) != TokenKind::end; i = step_over(i)) {
      switch (list_.kind(i)) {
        case TokenKind::use:
        case TokenKind::dim:
        case TokenKind::mesh:
        case TokenKind::monoid:
        case TokenKind::rewrite:
        case TokenKind::program:
        case TokenKind::extern_: return i;
        case TokenKind::op:
          if (list_.kind(i - 1) != TokenKind::extern_) return i;
          break;
        case TokenKind::name:  // op (x: f32[n]) …, whose missing name means that it does not look like a declaration
          if (list_.tokens[i].first_on_line && is_declaration_word(list_.text_of(i))) return i;
          break;
        default: break;
      }
    }
    return i;
  }

  // The first token after the error that may start a statement: after `;`, or the first of a line that looks like the
  // left side of an equation.
  std::size_t next_statement(std::size_t start, std::size_t error, std::size_t close) const {
    for (std::size_t i = start; i < close; i = step_over(i)) {
      if (i <= start || i < error) continue;
      if (list_.kind(i - 1) == TokenKind::semicolon) return i;
      if (list_.tokens[i].first_on_line && looks_like_statement(i)) return i;
    }
    return close;
  }

  bool looks_like_statement(std::size_t i) const {
    switch (list_.kind(i)) {
      case TokenKind::group:
      case TokenKind::barrier:
      case TokenKind::split:
      case TokenKind::lp_left: return true;
      case TokenKind::name: {
        std::size_t after = list_.kind(i + 1) == TokenKind::lbracket ? step_over(i + 1) : i + 1;
        return list_.kind(after) == TokenKind::assign;
      }
      default: return false;
    }
  }

  // The text of the /// lines directly before a token.
  std::string doc_before(std::size_t token) {
    std::uint32_t from = token > 0 ? list_.tokens[token - 1].end : 0;
    std::uint32_t to = list_.tokens[token].begin;
    auto first = std::lower_bound(list_.comments.begin(), list_.comments.end(), from,
                                  [](const Comment& c, std::uint32_t at) { return c.begin < at; });
    std::string doc;
    for (auto c = first; c != list_.comments.end() && c->begin < to; ++c) {
      if (c->kind != CommentKind::doc) continue;
      std::string_view line = list_.text.substr(c->begin + 3, c->end - c->begin - 3);
      if (line.starts_with(' ')) line.remove_prefix(1);
      while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
      if (!doc.empty()) doc += '\n';
      doc += line;
    }
    return doc;
  }

  const TokenList& list_;
  const ParseLimits& limits_;
  ast::Module& module_;
  Diagnostics& diagnostics_;
  TokenWindow window_;
  LimitedParser parser_;
  AstBuilder builder_;
  std::size_t at_ = 0;
};

}  // namespace

namespace {

// Makes a list of tokens with unpaired brackets parseable: closes open brackets at the end; errors caused by such a
// bracket count as reported. False if they nest too deeply.
bool close_brackets(TokenList& list, const ParseLimits& limits) {
  Diagnostics discarded;
  if (check_brackets(list, limits, discarded)) return true;
  for (const Diagnostic& d : discarded.all())
    if (d.code == Code::nesting_too_deep) return false;
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < list.tokens.size(); ++i) {
    bool bracket = opens(list.kind(i)) || closes(list.kind(i));
    if (!bracket || list.partner[i] != TokenList::none) continue;
    list.faults.push_back(i);
    if (list.kind(i) == TokenKind::lbrace) open.push_back(i);
  }
  Token end = list.tokens.back();
  list.tokens.pop_back();
  list.partner.pop_back();
  for (; !open.empty(); open.pop_back()) {
    auto closer = static_cast<std::uint32_t>(list.tokens.size());
    list.tokens.push_back({end.begin, end.begin, TokenKind::rbrace, false});
    list.partner.push_back(open.back());
    list.partner[open.back()] = closer;
  }
  list.tokens.push_back(end);
  list.partner.push_back(TokenList::none);
  return true;
}

// If brackets do not pair, the end of a declaration is uncertain. Each declaration at the left margin is parsed
// separately, so that its other errors are reported, too.
void parse_pieces(const SourceMap& sources, FileId file, const ParseLimits& limits, Diagnostics& diagnostics) {
  Diagnostics discarded;
  TokenList list;
  Span all = whole_file(sources, file);
  if (!check_bytes(sources, all, limits, discarded)) return;
  lex(sources, all, list, discarded);
  std::vector<std::uint32_t> starts;
  for (std::size_t i = 0; i + 1 < list.tokens.size(); ++i) {
    std::uint32_t begin = list.tokens[i].begin;
    bool at_margin = begin == all.begin || list.text[begin - 1] == '\n' || list.text[begin - 1] == '\r';
    if (at_margin && is_declaration_word(list.text_of(i)) && list.kind(i + 1) == TokenKind::name)
      starts.push_back(begin);
  }
  starts.push_back(all.end);
  for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
    TokenList piece;
    lex(sources, {file, starts[k], starts[k + 1]}, piece, discarded);
    if (!close_brackets(piece, limits)) continue;
    retype(piece);
    ast::Module module;
    FileParser(piece, limits, module, diagnostics).declarations();
  }
}

}  // namespace

std::optional<ast::Module> parse(const SourceMap& sources, FileId file, const ParseLimits& limits,
                                 Diagnostics& diagnostics) {
  std::size_t before = diagnostics.error_count();
  auto list = tokenize(sources, whole_file(sources, file), limits, diagnostics);
  if (!list) {
    parse_pieces(sources, file, limits, diagnostics);
    return std::nullopt;
  }
  ast::Module module;
  module.file = file;
  FileParser parser(*list, limits, module, diagnostics);
  parser.version_line();
  parser.declarations();
  if (diagnostics.error_count() != before) return std::nullopt;
  warn_of_division_comments(*list, diagnostics);
  if (module.declarations.empty()) {
    std::uint32_t end = static_cast<std::uint32_t>(list->text.size());
    diagnostics.report(
        Diagnostic(Code::nothing_declared, Span{file, end, end}, "the file declares no operator and no program")
            .help("the shortest program is `program main(X: f32[4]) -> (Y: f32[4]) { Y[i] = 2 * X[i] }`"));
    return std::nullopt;
  }
  return module;
}

bool parse_part(const SourceMap& sources, Span part, const ParseLimits& limits, ast::Module& module,
                Diagnostics& diagnostics) {
  std::size_t before = diagnostics.error_count();
  auto list = tokenize(sources, part, limits, diagnostics);
  if (!list) return false;
  FileParser(*list, limits, module, diagnostics).declarations();
  return diagnostics.error_count() == before;
}

}  // namespace tap
