#include "compiler/frontend/syntax/format.h"

#include <algorithm>

#include "compiler/frontend/syntax/tokens.h"

namespace tap {

namespace {

using K = TokenKind;

constexpr std::size_t indent_width = 4, continuation_width = 8;

// A token or a comment, in source order.
struct Piece {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool comment = false;
  bool to_line_end = false;  // a comment that ends its line
  std::size_t token = 0;     // for a comment, the token after it
};

struct Line {
  std::size_t indent = 0;
  std::string code;
  std::string comment;  // after the code
};

// Starts a statement, clause or declaration after the end of an operand.
bool may_start(K kind) {
  switch (kind) {
    case K::name:
    case K::lp_left:
    case K::group:
    case K::barrier:
    case K::split:
    case K::index:
    case K::read:
    case K::write:
    case K::kernel:
    case K::cost:
    case K::identity:
    case K::combine:
    case K::fold:
    case K::use:
    case K::dim:
    case K::mesh:
    case K::monoid:
    case K::op:
    case K::extern_:
    case K::rewrite:
    case K::program:
    case K::if_:
    case K::let:
    case K::reduction:
    case K::user_reduction:
    case K::iterate: return true;
    default: return false;
  }
}

bool binary_or_word(K kind) {
  switch (kind) {
    case K::lparen:
    case K::rparen:
    case K::lbracket:
    case K::rbracket:
    case K::lbrace:
    case K::rbrace:
    case K::comma:
    case K::semicolon:
    case K::colon:
    case K::range:
    case K::dot:
    case K::hash:
    case K::question:
    case K::angle_open:
    case K::angle_close:
    case K::lp_state:
    case K::lp_left:
    case K::pack:
    case K::name:
    case K::integer:
    case K::float_:
    case K::string:
    case K::reduction:
    case K::user_reduction:
    case K::fold:
    case K::true_:
    case K::false_:
    case K::inf:
    case K::nan: return false;
    default: return true;
  }
}

class Formatter {
 public:
  explicit Formatter(const TokenList& list) : list_(list) {}

  std::string run() {
    pieces();
    for (std::size_t i = 0; i < pieces_.size(); ++i) add_piece(i);
    return text();
  }

 private:
  K kind(std::size_t token) const { return list_.kind(token); }
  K before(std::size_t token) const { return token > 0 ? kind(token - 1) : K::end; }

  void pieces() {
    auto comment = list_.comments.begin();
    auto comments_until = [&](std::uint32_t at, std::size_t token) {
      for (; comment != list_.comments.end() && comment->begin < at; ++comment)
        pieces_.push_back({comment->begin, comment->end, true, comment->kind != CommentKind::block, token});
    };
    for (std::size_t i = 0; i < list_.tokens.size(); ++i) {
      const Token& t = list_.tokens[i];
      comments_until(t.kind == K::end ? 0xffffffffu : t.begin, i);
      if (t.kind != K::end) pieces_.push_back({t.begin, t.end, false, false, i});
    }
  }

  // Line ends between two pieces: LF, CRLF and CR each count once.
  std::size_t breaks(std::uint32_t from, std::uint32_t to) const {
    std::size_t count = 0;
    for (std::uint32_t i = from; i < to; ++i)
      count += list_.text[i] == '\n' ||
               (list_.text[i] == '\r' && (i + 1 >= list_.text.size() || list_.text[i + 1] != '\n'));
    return count;
  }

  std::string spelling(const Piece& p) const {
    std::string_view source = list_.text.substr(p.begin, p.end - p.begin);
    if (p.to_line_end) source = source.substr(0, source.find_last_not_of(" \t\f\v") + 1);
    std::string text;
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (source[i] == '\r') {
        if (i + 1 >= source.size() || source[i + 1] != '\n') text += '\n';
      } else {
        text += source[i];
      }
    }
    return text;
  }

  void add_piece(std::size_t i) {
    const Piece& p = pieces_[i];
    std::size_t line_breaks = i == 0 ? 1 : breaks(pieces_[i - 1].end, p.begin);
    if (line_breaks > 0) {
      if (line_breaks > 1 && !lines_.empty()) lines_.push_back({});
      lines_.push_back({indent(p), {}, {}});
    }
    Line& line = lines_.back();
    if (p.to_line_end && !line.code.empty()) {
      line.comment = spelling(p);
      return;
    }
    if (!line.code.empty() && (p.comment || pieces_[i - 1].comment || spaced(p.token))) line.code += ' ';
    line.code += spelling(p);
    if (!p.comment) follow(p.token);
  }

  // Keeps the open brackets; `axes` are the braces of a sharding.
  enum class Open { code, axes, other };
  void follow(std::size_t token) {
    K k = kind(token);
    if (opens(k) || k == K::angle_open) {
      open_.push_back(k != K::lbrace ? Open::other : in_sharding() ? Open::axes : Open::code);
      starts_.push_back(token);
      braces_ += open_.back() == Open::code;
    } else if (closes(k) || k == K::angle_close) {
      braces_ -= open_.back() == Open::code;
      open_.pop_back();
      starts_.pop_back();
    }
  }

  // Is the innermost open bracket that of `@ mesh[…]`?
  bool in_sharding() const {
    return !starts_.empty() && kind(starts_.back()) == K::lbracket && starts_.back() >= 2 &&
           kind(starts_.back() - 2) == K::shard;
  }

  bool starts_statement(std::size_t token) const {
    if (!open_.empty() && open_.back() != Open::code) return false;
    K b = before(token);
    if (token == 0 || b == K::lbrace || b == K::semicolon) return true;
    if (b == K::extern_) return false;
    return ends_operand(b) && may_start(kind(token));
  }

  std::size_t indent(const Piece& p) const {
    std::size_t token = p.token;
    if (kind(token) == K::end) return 0;
    bool closes_body = kind(token) == K::rbrace && !open_.empty() && open_.back() == Open::code;
    if (closes_body) return (braces_ - (p.comment ? 0 : 1)) * indent_width;
    return braces_ * indent_width + (starts_statement(token) ? 0 : continuation_width);
  }

  // model:(1)2
  bool in_sub_axis(std::size_t token) const {
    for (std::size_t colon = token >= 4 ? token - 4 : 0; colon <= token; ++colon)
      if (kind(colon) == K::colon && kind(colon + 1) == K::lparen && kind(colon + 2) == K::integer &&
          kind(colon + 3) == K::rparen && kind(colon + 4) == K::integer)
        return token > colon && token <= colon + 4;
    return false;
  }

  static bool arithmetic(K k) {
    return k == K::plus || k == K::minus || k == K::times || k == K::divide || k == K::modulo;
  }

  // Is the operator part of a bound of `a..b`?
  bool in_range_bound(std::size_t token) const {
    constexpr std::size_t far = 32;  // tokens; longer bounds are formatted like any expression
    auto part = [&](std::size_t i) {
      return ends_operand(kind(i)) || arithmetic(kind(i)) || kind(i) == K::dot || opens(kind(i));
    };
    auto separate = [&](std::size_t left, std::size_t right) {
      return ends_operand(kind(left)) && kind(right) != K::lbracket && kind(right) != K::lparen &&
             !arithmetic(kind(right)) && kind(right) != K::dot;
    };
    std::size_t i = token;
    for (std::size_t steps = 0; steps < far; ++steps) {
      std::size_t next = (opens(kind(i)) ? list_.partner[i] : i) + 1;
      if (kind(next) == K::range) return true;
      if (!part(next) || separate(next - 1, next) || closes(kind(next))) break;
      i = next;
    }
    i = token;
    for (std::size_t steps = 0; steps < far && i > 0; ++steps) {
      std::size_t next = (closes(kind(i)) ? list_.partner[i] : i) - 1;
      if (kind(next) == K::range) return true;
      if (!part(next) || separate(next, next + 1) || opens(kind(next)) || next == 0) break;
      i = next;
    }
    return false;
  }

  bool in_brackets() const {
    return std::any_of(starts_.begin(), starts_.end(), [&](std::size_t s) { return kind(s) == K::lbracket; });
  }

  // Within brackets `*` has no spaces, as in `y[2*i + r]`; nor do operators in a bound, as in `0..i+1`.
  bool close_operator(std::size_t token) const {
    K k = kind(token);
    return arithmetic(k) && ends_operand(before(token)) && ((k == K::times && in_brackets()) || in_range_bound(token));
  }

  // Whether a space precedes this token, on its line.
  bool spaced(std::size_t token) const {
    K b = before(token), k = kind(token);
    if (in_sub_axis(token) || close_operator(token) || (token > 0 && close_operator(token - 1))) return false;
    if (b == K::lbrace || k == K::rbrace) {
      bool axes = !open_.empty() && open_.back() == Open::axes;
      return !axes && !(b == K::lbrace && k == K::rbrace);
    }
    if (b == K::rbrace && in_sharding()) return k != K::comma && k != K::semicolon && k != K::rbracket && k != K::name;
    switch (b) {  // no space after these
      case K::lparen:
      case K::lp_left:
      case K::lp_state:
      case K::lbracket:
      case K::angle_open:
      case K::dot:
      case K::range:
      case K::hash: return false;
      case K::minus:
        if (token < 2 || !ends_operand(kind(token - 2))) return false;
        break;
      default: break;
    }
    switch (k) {  // no space before these
      case K::rparen:
      case K::rbracket:
      case K::angle_open:
      case K::angle_close:
      case K::comma:
      case K::semicolon:
      case K::colon:
      case K::dot:
      case K::range:
      case K::pack:
      case K::hash: return false;
      case K::lparen: return !(b == K::name || b == K::angle_close);
      case K::lbracket: return binary_or_word(b);
      default: return true;
    }
  }

  std::string text() {
    align_comments();
    std::string result;
    for (const Line& line : lines_) {
      if (!line.code.empty()) result += std::string(line.indent, ' ') + line.code + line.comment;
      result += '\n';
    }
    return result;
  }

  static std::size_t width(const Line& line) {
    std::size_t last = line.code.rfind('\n');
    return last == std::string::npos ? line.indent + line.code.size() : line.code.size() - last - 1;
  }

  // Trailing comments of consecutive lines are aligned.
  void align_comments() {
    for (std::size_t first = 0; first < lines_.size();) {
      std::size_t last = first, column = 0;
      for (; last < lines_.size() && !lines_[last].comment.empty(); ++last)
        column = std::max(column, width(lines_[last]) + 2);
      for (std::size_t i = first; i < last; ++i) lines_[i].comment.insert(0, column - width(lines_[i]), ' ');
      first = std::max(last, first + 1);
    }
  }

  const TokenList& list_;
  std::vector<Piece> pieces_;
  std::vector<Line> lines_;
  std::vector<Open> open_;
  std::vector<std::size_t> starts_;  // the tokens that opened them
  std::size_t braces_ = 0;           // of code
};

}  // namespace

std::optional<std::string> format_source(const SourceMap& sources, FileId file, const ParseLimits& limits,
                                         Diagnostics& diagnostics) {
  if (!parse(sources, file, limits, diagnostics)) return std::nullopt;
  auto list = tokenize(sources, whole_file(sources, file), limits, diagnostics);
  if (!list) return std::nullopt;
  return Formatter(*list).run();
}

}  // namespace tap
