// Between lexer and parser: tokens whose type depends on their neighbours get it here, so that the grammar needs one
// token of lookahead and a user may call a dim `in` or a value `split`.
//
//   y[i] = x[i] for i in 0..n        `for` and `in` become keywords
//   y[in] = w[in]                    here they stay names
//
// Most of it follows from one fact: within a statement, two operands are never adjacent, so a word between two operands
// is a keyword, and one after an operator is not.
#include <algorithm>
#include <array>

#include "compiler/frontend/syntax/tokens.h"

namespace tap {

namespace {

using K = TokenKind;

struct Word {
  std::string_view text;
  K kind;
};
constexpr auto words = std::to_array<Word>({
    {"all", K::reduction},
    {"any", K::reduction},
    {"at", K::at},
    {"axis", K::axis},
    {"barrier", K::barrier},
    {"by", K::by},
    {"combine", K::combine},
    {"const", K::const_},
    {"cost", K::cost},
    {"devices", K::devices},
    {"dim", K::dim},
    {"extern", K::extern_},
    {"flops", K::flops},
    {"fold", K::fold},
    {"for", K::for_},
    {"group", K::group},
    {"identity", K::identity},
    {"in", K::in},
    {"index", K::index},
    {"into", K::into},
    {"iterate", K::iterate},
    {"keep", K::keep},
    {"kernel", K::kernel},
    {"max", K::reduction},
    {"mesh", K::mesh},
    {"min", K::reduction},
    {"monoid", K::monoid},
    {"on", K::on},
    {"op", K::op},
    {"over", K::over},
    {"prod", K::reduction},
    {"program", K::program},
    {"read", K::read},
    {"reduce", K::reduce},
    {"replicated", K::replicated},
    {"rewrite", K::rewrite},
    {"shape", K::shape},
    {"split", K::split},
    {"sum", K::reduction},
    {"tap", K::tap},
    {"unreduced", K::unreduced},
    {"use", K::use},
    {"when", K::when},
    {"where", K::where},
    {"write", K::write},
});
static_assert(std::is_sorted(words.begin(), words.end(), [](const Word& a, const Word& b) { return a.text < b.text; }));

// The keyword that the word may be; `name` for every other name.
K word_kind(std::string_view text) {
  if (text.size() < 2 || text.size() > 10) return K::name;
  auto at =
      std::lower_bound(words.begin(), words.end(), text, [](const Word& w, std::string_view t) { return w.text < t; });
  return at != words.end() && at->text == text ? at->kind : K::name;
}

bool declares(K kind) {
  switch (kind) {
    case K::use:
    case K::dim:
    case K::mesh:
    case K::monoid:
    case K::op:
    case K::extern_:
    case K::rewrite:
    case K::program: return true;
    default: return false;
  }
}

class Retyping {
 public:
  explicit Retyping(TokenList& list) : list_(list), t_(list.tokens) {}

  void run() {
    for (std::size_t i = t_.size(); i-- > 0;)
      if (t_[i].kind == K::less) angle(i);
    for (std::size_t i = 0; i < t_.size(); ++i) {
      switch (t_[i].kind) {
        case K::name: word(i); break;
        case K::lparen: paren(i); break;
        case K::range: dots(i); break;
        case K::lbracket:
        case K::lbrace: open_.push_back(kind_of_body(i)); break;
        case K::rbracket:
        case K::rparen:
        case K::rbrace:
          if (!open_.empty()) open_.pop_back();
          break;
        default: break;
      }
      if (t_[i].kind == K::lparen || t_[i].kind == K::lp_state || t_[i].kind == K::lp_left) open_.push_back(Body::list);
    }
  }

 private:
  enum class Body { list, statements, iterate, monoid, outside_kernel };

  K kind(std::size_t i) const { return list_.kind(i); }
  K before(std::size_t i, std::size_t n = 1) const { return i >= n ? t_[i - n].kind : K::end; }
  bool is(std::size_t i, std::string_view text) const {
    return i < t_.size() && t_[i].kind == K::name && list_.text_of(i) == text;
  }
  bool inside(Body body) const { return !open_.empty() && open_.back() == body; }
  bool at_top() const { return open_.empty(); }
  std::size_t partner(std::size_t i) const {
    return list_.partner[i] == TokenList::none ? t_.size() - 1 : list_.partner[i];
  }

  // Whether a statement or clause may start at i, judged by the preceding tokens.
  bool begins_statement(std::size_t i) const {
    K b = before(i);
    return i == 0 || ends_operand(b) || b == K::semicolon || b == K::lbrace;
  }

  Body kind_of_body(std::size_t i) const {
    if (t_[i].kind == K::lbracket) return Body::list;
    if (!at_top()) return before(i) == K::rparen && inside_statements() ? Body::iterate : Body::list;
    if (declaration_ == K::monoid) return Body::monoid;
    return declaration_ == K::extern_ ? Body::outside_kernel : Body::statements;
  }
  bool inside_statements() const {
    return std::any_of(open_.begin(), open_.end(), [](Body b) { return b == Body::statements || b == Body::iterate; });
  }

  // name < … > (    containing only what a parameter list may contain. Inner ones are already decided, so each scan
  // ends at the next `<` or steps over it.
  void angle(std::size_t less) {
    if (before(less) != K::name) return;
    for (std::size_t i = less + 1; i < t_.size(); ++i) {
      switch (t_[i].kind) {
        case K::greater:
          if (kind(i + 1) != K::lparen) return;
          t_[less].kind = K::angle_open;
          t_[i].kind = K::angle_close;
          list_.partner[less] = static_cast<std::uint32_t>(i);
          list_.partner[i] = static_cast<std::uint32_t>(less);
          return;
        case K::angle_open: i = list_.partner[i]; break;
        case K::lparen:
        case K::lbracket: i = partner(i); break;
        case K::equal:
        case K::not_equal:
        case K::less_equal:
        case K::greater_equal:
        case K::less:
        case K::and_:
        case K::or_:
        case K::not_:
        case K::if_:
        case K::then:
        case K::else_:
        case K::let:
        case K::yields:
        case K::arrow:
        case K::lbrace:
        case K::rbrace:
        case K::rparen:
        case K::rbracket:
        case K::semicolon:
        case K::shard:
        case K::hash:
        case K::end: return;
        default:
          if (i > less + 1 && ends_operand(t_[i].kind) && ends_operand(t_[i - 1].kind) && !closes_reduction(i - 1))
            return;  // a new statement
      }
    }
  }

  // Whether i is the `]` of `sum[k]`.
  bool closes_reduction(std::size_t i) const {
    if (t_[i].kind != K::rbracket) return false;
    std::size_t open = partner(i);
    return before(open) == K::name && word_kind(list_.text_of(open - 1)) == K::reduction;
  }

  void paren(std::size_t i) {
    std::size_t close = partner(i);
    bool on_same_line = !t_[i].first_on_line;
    if (kind(i + 1) == K::name && kind(i + 2) == K::assign) {
      t_[i].kind = K::lp_state;
    } else if ((kind(close + 1) == K::assign && !(before(i) == K::name && on_same_line)) || before(i) == K::semicolon ||
               (before(i) == K::lbrace && !at_top()) ||
               (inside(Body::iterate) && !on_same_line && kind(close + 1) == K::rbrace && ends_operand(before(i)))) {
      t_[i].kind = K::lp_left;
    } else if (before(i) == K::rbracket && on_same_line) {
      std::size_t open = partner(i - 1);
      if (before(open) == K::name) t_[open - 1].kind = K::user_reduction;
    }
  }

  void dots(std::size_t i) {
    switch (kind(i + 1)) {
      case K::comma:
      case K::rbracket:
      case K::rparen:
      case K::colon:
      case K::else_:
      case K::angle_close: t_[i].kind = K::pack; break;
      default:
        if (is(i + 1, "in")) t_[i].kind = K::pack;
    }
  }

  void word(std::size_t i) {
    K keyword = word_kind(list_.text_of(i));
    if (keyword == K::name || !acts(i, keyword)) return;
    t_[i].kind = keyword;
    if (declares(keyword) && before(i) != K::extern_) declaration_ = keyword;
  }

  bool acts(std::size_t i, K keyword) const {
    K next = kind(i + 1);
    switch (keyword) {
      case K::reduction: return next == K::lbracket;
      case K::tap: return i == 0 && next == K::integer;
      case K::op:
        if (before(i) == K::extern_) return next == K::name;
        [[fallthrough]];
      case K::use:
      case K::dim:
      case K::mesh:
      case K::monoid:
      case K::extern_:
      case K::rewrite:
      case K::program: return at_top() && begins_statement(i) && next == K::name && !declares(before(i));
      case K::const_:
        return (before(i) == K::lparen || before(i) == K::comma) && next == K::name && kind(i + 2) == K::colon;
      case K::where: return at_top() && before(i) == K::rparen;
      case K::when: return at_top() && ends_operand(before(i)) && declaration_ == K::rewrite;
      case K::devices: return at_top() && before(i) == K::rbracket && next == K::lbracket && declaration_ == K::mesh;
      case K::for_: return next == K::name && is(i + 2, "in");
      case K::in: return ends_operand(before(i)) && starts_operand(next);
      case K::by: return ends_operand(before(i)) && next == K::name && inside(Body::list);
      case K::iterate:
        if (next == K::lparen) {
          std::size_t after = partner(i + 1) + 1;
          return kind(after) == K::lparen && kind(after + 1) == K::name && kind(after + 2) == K::assign;
        }
        return !ends_operand(before(i)) && (next == K::integer || (next == K::name && kind(i + 2) != K::assign));
      case K::group:
      case K::barrier:
      case K::split:
        return (inside(Body::statements) || inside(Body::iterate)) && begins_statement(i) && next == K::name;
      case K::on: return before(i, 2) == K::split || (before(i, 2) == K::hash && before(i, 4) == K::split);
      case K::axis: return before(i) == K::on && next == K::integer;
      case K::into: return before(i, 2) == K::on || before(i, 2) == K::axis;
      case K::over: return ends_operand(before(i)) && next == K::name && inside_statements() && into_split(i);
      case K::reduce:
      case K::keep:
        return declaration_ == K::extern_ && (before(i) == K::lbracket || before(i) == K::comma) && next == K::name &&
               kind(i + 2) == K::colon;
      case K::index:
      case K::read:
      case K::write:
      case K::kernel:
      case K::cost: return inside(Body::outside_kernel) && begins_statement(i);
      case K::at: return before(i, 2) == K::read || before(i, 2) == K::write;
      case K::shape: return inside(Body::outside_kernel) && before(i) == K::rbracket;
      case K::flops: return before(i) == K::cost;
      case K::identity:
      case K::combine:
      case K::fold: return inside(Body::monoid) && begins_statement(i);
      case K::replicated:
      case K::unreduced: return before(i) == K::semicolon && next == K::lbrace && inside(Body::list);
      default: return false;
    }
  }

  // Whether the operand that ends before i belongs to an `into`.
  bool into_split(std::size_t i) const {
    std::size_t at = i - 1;
    for (std::size_t steps = 0; at > 0 && steps < 64; ++steps) {
      if (closes(t_[at].kind) && list_.partner[at] != TokenList::none) at = list_.partner[at];
      if (t_[at].kind == K::into) return true;
      if (t_[at].kind == K::assign || t_[at].kind == K::lbrace || t_[at].kind == K::semicolon) return false;
      --at;
    }
    return false;
  }

  TokenList& list_;
  std::vector<Token>& t_;
  std::vector<Body> open_;
  K declaration_ = K::end;
};

}  // namespace

void retype(TokenList& list) { Retyping(list).run(); }

}  // namespace tap
