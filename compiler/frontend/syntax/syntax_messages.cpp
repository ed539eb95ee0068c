#include "compiler/frontend/syntax/syntax_messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/syntax/syntax_habits.h"

namespace tap {

namespace {

using K = TokenKind;
using Construct = SyntaxProblem::Construct;

constexpr std::string_view declarations = "use, dim, mesh, monoid, op, extern op, rewrite or program";

std::string found(const TokenList& list, std::size_t token) {
  if (list.kind(token) == K::end) return "found the end of the file";
  std::string_view text = list.text_of(token);
  return text.size() <= 40 ? fmt::format("found `{}`", text) : fmt::format("found `{}...`", text.substr(0, 37));
}

// The form of the construct being parsed, shown as help.
std::string_view form_of(Construct construct) {
  switch (construct) {
    case Construct::conditional: return "a conditional is written `if c then a else b`";
    case Construct::let: return "a local name is written `let m = a + b in m * m`";
    case Construct::reduction: return "a reduction is written `sum[k] x[k]`, or with a range `sum[k in 0..n] x[k]`";
    case Construct::iterate:
      return "an `iterate` is written `iterate 50 (v = v0) { step(v) }` or `iterate t in 0..n (v = v0) { … }`";
    case Construct::signature:
    case Construct::op_head: return "an operator is written `op f(x: f32[n]) -> (y: f32[n]) { y[i] = x[i] }`";
    case Construct::tensor: return "a tensor is declared as `x: f32[n, m]`; a scalar as `s: f32[]`";
    case Construct::program_head:
      return "a program is written `program main(X: f32[n]) -> (Y: f32[n]) { Y = relu(X) }`";
    case Construct::dim: return "sizes are declared as `dim n = 4, m = 8`";
    case Construct::mesh: return "a mesh is declared as `mesh pod = [data: 4, model: 2]`";
    case Construct::monoid: return "a monoid holds `identity …` and `combine (a, b) = …`";
    case Construct::outside_kernel:
      return "an extern op holds `index […]`, `read x at […] shape […]`, `write y at […] shape […]` and `kernel \"…\"`";
    case Construct::rewrite: return "a rewrite is written `rewrite f(x) => g(x) when f.n > 4`";
    case Construct::barrier: return "a barrier is written `barrier H forward` (or `backward`, or `both`)";
    case Construct::split:
      return "a split is written `split H on axis 0 into 8` or `split f#1 on k into [0..10, 10..40]`";
    case Construct::group: return "a group is written `group A, B`";
    case Construct::sharding: return "a sharding is written `X @ pod[{data}, {model, ?}]`";
    case Construct::parameters: return "parameters are declared as `<stride: int = 1>` and given as `<stride = 2>`";
    default: return {};
  }
}

bool in_a_list(Construct construct) {
  switch (construct) {
    case Construct::call_or_cell:
    case Construct::signature:
    case Construct::tensor:
    case Construct::program_head:
    case Construct::reduction:
    case Construct::mesh:
    case Construct::sharding:
    case Construct::parameters:
    case Construct::expression: return true;
    default: return false;
  }
}

// Token kinds that mean the same to a user are listed once.
std::vector<std::string> expected_words(const SyntaxProblem& problem) {
  std::bitset<128> expected = problem.expected;
  auto has = [&](K k) { return expected[static_cast<std::size_t>(k)]; };
  auto drop = [&](std::initializer_list<K> kinds) {
    for (K k : kinds) expected.reset(static_cast<std::size_t>(k));
  };
  std::vector<std::string> words;
  if (has(K::group) && has(K::split)) {
    words.push_back("a statement");
    drop({K::group, K::split, K::barrier, K::name, K::lp_left, K::if_, K::let, K::reduction, K::iterate, K::semicolon});
  } else if (has(K::integer) && has(K::name)) {
    words.push_back("an expression");
    drop({K::integer, K::float_, K::string, K::name, K::true_, K::false_, K::inf, K::nan, K::if_, K::let, K::not_,
          K::minus, K::lparen, K::lp_left, K::reduction, K::user_reduction, K::iterate});
  }
  if (has(K::plus) && has(K::times)) {
    words.push_back("an operator");
    drop({K::plus, K::minus, K::times, K::divide, K::modulo, K::equal, K::not_equal, K::less, K::less_equal, K::greater,
          K::greater_equal, K::and_, K::or_});
  }
  drop({K::end});
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (!expected[k]) continue;
    K kind = static_cast<K>(k);
    if (closes(kind) && in_a_list(problem.construct) && !has(K::comma)) words.push_back("`,`");
    std::string word(shown(kind));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
  }
  return words;
}

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

// iterate 3.5 (v = x), iterate (v = x): no valid trip count; iterate 3 (x), iterate 3 (): no state.
bool bad_iterate(const TokenList& list, const SyntaxProblem& problem, Diagnostic& d) {
  bool after_iterate = problem.token > 0 && list.text_of(problem.token - 1) == "iterate";
  bool no_state = list.kind(problem.token) == K::lparen && problem.expected[static_cast<std::size_t>(K::lp_state)];
  if (after_iterate)
    d.message =
        fmt::format("expected a trip count after `iterate`, an integer or `t in 0..n`; {}", found(list, problem.token));
  else if (no_state) d.message = "an `iterate` needs a state and its initial value, as in `(v = v0)`";
  if (after_iterate || no_state) d.help(std::string(form_of(Construct::iterate)));
  return after_iterate || no_state;
}

// x[i else 0, 1]
bool else_before_the_end(const TokenList& list, const SyntaxProblem& problem, Diagnostic& d) {
  if (list.kind(problem.token) != K::comma || !problem.expected[static_cast<std::size_t>(K::rbracket)]) return false;
  int open = 0;
  for (std::size_t at = problem.token; at-- > 0;) {
    K kind = list.kind(at);
    if (closes(kind)) ++open;
    else if (opens(kind) && open-- == 0) return false;
    if (open > 0 || kind != K::else_) continue;
    d.message = "found `,` after the `else` of a read; `else` comes last and applies to the whole read";
    d.label(list.span(at), "this `else`");
    d.help("write it before the `]`, as in `x[i, j else 0]`");
    return true;
  }
  return false;
}

// Errors with only one likely cause: `if` without `then`, `=` for `==`, `return`.
bool known_slip(const TokenList& list, const SyntaxProblem& problem, Diagnostic& d) {
  auto expects = [&](K k) { return problem.expected[static_cast<std::size_t>(k)]; };
  if (problem.construct == Construct::conditional && (expects(K::then) || expects(K::else_))) {
    std::string_view missing = expects(K::then) ? "then" : "else";
    if (list.kind(problem.token) == K::lbrace) {
      d.span = list.span(problem.start);
      d.message = "`if` chooses between values, not between statements";
      d.help("write the condition inside the equation: `y[i] = if c then a else b`");
      return true;
    }
    if (list.kind(problem.token) == K::assign) {
      d.message = "found `=` in a condition; `==` compares values";
      d.help("write `==`").fix(d.span, "==");
      return true;
    }
    d.message = fmt::format("{} where the `{}` of this `if` was expected", found(list, problem.token), missing);
    d.label(list.span(problem.start), fmt::format("this `if` has no `{}`", missing));
    d.help(std::string(form_of(Construct::conditional)));
    return true;
  }
  if (problem.construct == Construct::let && expects(K::in)) {
    d.message = fmt::format("{} where the `in` of this `let` was expected", found(list, problem.token));
    d.label(list.span(problem.start), "this `let` has no `in`");
    d.help("a statement needs no `let`: write `name = value`; within an expression: `let m = a + b in m * m`");
    return true;
  }
  if (bad_iterate(list, problem, d) || else_before_the_end(list, problem, d)) return true;
  if (list.kind(problem.token) == K::lp_state && problem.construct != Construct::iterate) {
    d.message = "found `(name = …)`; arguments are positional, named parameters belong in `<…>`";
    d.help("write `f(x)`, or `f<stride = 2>(x)` for a parameter");
    return true;
  }
  return false;
}

bool is_loose_in_angles(K kind) {
  return kind == K::less || kind == K::less_equal || kind == K::greater || kind == K::greater_equal ||
         kind == K::equal || kind == K::not_equal || kind == K::and_ || kind == K::or_ || kind == K::not_;
}

// op f<a: bool = 1 > 2>(…): the `<` does not open a parameter list, since a comparison there must be in parentheses.
bool loose_default(const TokenList& list, const SyntaxProblem& problem, Diagnostic& d) {
  std::size_t open = problem.token;
  if (list.kind(open) != K::less || !problem.expected[static_cast<std::size_t>(K::lparen)]) return false;
  std::size_t first = 0, loose = 0;  // of the current default; in it, what needs parentheses
  for (std::size_t at = open + 1; list.kind(at) != K::end && list.kind(at) != K::lbrace; ++at) {
    K kind = list.kind(at);
    if (opens(kind) && list.partner[at] != TokenList::none) {
      at = list.partner[at];
      continue;
    }
    bool ends_list = kind == K::greater && opens(list.kind(at + 1)) &&
                     (list.kind(at + 3) == K::colon || list.kind(at + 2) == K::rparen);
    if (kind == K::comma || ends_list) {
      if (loose != 0) {
        d.span = join(list.span(first), list.span(at - 1));
        std::string text(list.text.substr(d.span.begin, d.span.end - d.span.begin));
        d.message =
            fmt::format("`{}` needs parentheses inside `<…>`: without them its comparison would end the list", text);
        d.help(fmt::format("write `({})`", text)).fix(d.span, "(" + text + ")");
        return true;
      }
      if (ends_list) return false;
      first = 0;
    } else if (kind == K::assign) {
      first = at + 1;
    } else if (first != 0 && is_loose_in_angles(kind)) {
      loose = at;
    }
  }
  return false;
}

}  // namespace

Diagnostic syntax_message(const TokenList& list, const SyntaxProblem& problem, const ParseLimits& limits) {
  Span at = list.span(problem.token);
  if (problem.too_deep) {
    return Diagnostic(Code::nesting_too_deep, at,
                      fmt::format("this expression chains more than {} operations", 4 * limits.max_nesting))
        .help("define parts of it in separate equations");
  }
  Diagnostic d(Code::syntax, at, {});
  if (habit_of_another_language(list, problem, d) || known_slip(list, problem, d) || loose_default(list, problem, d))
    return d;
  std::vector<std::string> words = expected_words(problem);
  // `(` of one kind where another is expected, which only the grammar distinguishes
  bool same = std::find(words.begin(), words.end(), std::string(shown(list.kind(problem.token)))) != words.end();
  d.message = words.empty() || words.size() > 6 || same
                  ? fmt::format("{}, which does not fit here", found(list, problem.token))
                  : fmt::format("{} where {} was expected", found(list, problem.token), join_words(words));
  if (std::string_view form = form_of(problem.construct); !form.empty()) { d.help(std::string(form)); }
  return d;
}

Diagnostic not_a_declaration(const TokenList& list, std::size_t token) {
  Diagnostic d(Code::syntax, list.span(token), {});
  std::string_view text = list.text_of(token);
  if (is_declaration_word(text)) {
    std::size_t next = token + 1;
    d.span = list.span(next);
    std::string_view expected = text == "extern" ? "`op`" : text == "rewrite" ? "a pattern such as `f(x)`" : "a name";
    d.message = fmt::format("{} where {} was expected after `{}`", found(list, next), expected, text);
    return d;
  }
  if (habit_of_another_language(list, {token, token}, d)) return d;
  bool imports = text == "import" || text == "using" || text == "include" || text == "from";
  if (imports && list.kind(token + 1) == K::name) {
    d.message = fmt::format("`{}` has no meaning in Tap", text);
    d.help("import a module with `use` and the name of its file").fix(d.span, "use");
    return d;
  }
  if (list.kind(token) == K::comma && token >= 2 && list.text_of(token - 2) == "use") {
    d.message = "a `use` names one module";
    d.help("write one `use` per module").fix(d.span, "; use");
    return d;
  }
  d.message = fmt::format("{} where a declaration was expected: {}", found(list, token), declarations);
  K next = list.kind(token + 1);
  if (auto near = list.kind(token) == K::name ? did_you_mean(text, {declaration_words.begin(), declaration_words.end()})
                                              : std::nullopt) {
    d.help(fmt::format("did you mean `{}`?", *near)).fix(d.span, *near);
  } else if (text == "def" || text == "fn" || text == "func" || text == "function") {
    d.help("an operator is declared with `op`").fix(d.span, "op");
  } else if (list.kind(token) == K::name && (next == K::assign || next == K::lbracket)) {
    d.help("equations and bindings belong in the body of an `op` or a `program`");
  }
  return d;
}

}  // namespace tap
