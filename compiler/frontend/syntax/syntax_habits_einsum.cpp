// NumPy's einsum, whose string corresponds to the indices of an equation:
//
//   C = einsum("ij,jk->ik", A, B)      C[i, k] = sum[j] A[i, j] * B[j, k]
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/frontend/syntax/habit_context.h"
#include "compiler/frontend/syntax/syntax_habits.h"

namespace tap {
namespace {

using K = TokenKind;

constexpr char ellipsis = '.';  // one letter for `...`

// The letters of one operand or of the result, with the ellipsis as one letter; nothing for other text.
std::optional<std::string> letters_of(std::string_view term) {
  std::string letters;
  for (std::size_t i = 0; i < term.size(); ++i) {
    bool dots = term.substr(i, 3) == "...";
    bool letter = (term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z');
    if (!dots && !letter) return std::nullopt;
    letters += dots ? ellipsis : term[i];
    if (dots) i += 2;
  }
  return std::count(letters.begin(), letters.end(), ellipsis) <= 1 ? std::optional(letters) : std::nullopt;
}

struct Subscripts {
  std::vector<std::string> inputs;
  std::string output, summed;
};

// Like NumPy: without an arrow, the result has the letters that occur once, in alphabetical order.
std::optional<Subscripts> subscripts_of(std::string_view quoted) {
  std::string text;
  for (char c : quoted)
    if (c != ' ' && c != '"') text += c;
  Subscripts result;
  std::size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  std::string all;
  for (std::size_t at = 0; at <= left.size();) {
    std::size_t comma = std::min(left.find(',', at), left.size());
    auto letters = letters_of(left.substr(at, comma - at));
    if (!letters) return std::nullopt;
    all += *letters;
    result.inputs.push_back(std::move(*letters));
    at = comma + 1;
  }
  auto count = [&](const std::string& in, char c) { return std::count(in.begin(), in.end(), c); };
  if (arrow != std::string::npos) {
    auto letters = letters_of(std::string_view(text).substr(arrow + 2));
    if (!letters) return std::nullopt;
    result.output = *letters;
  } else {
    for (char c : all)
      if (c == ellipsis ? count(result.output, c) == 0 : count(all, c) == 1) result.output += c;
    std::sort(result.output.begin(), result.output.end());  // the ellipsis first
  }
  for (char c : result.output)
    if (count(all, c) == 0 || count(result.output, c) > 1) return std::nullopt;
  for (char c : all)
    if (count(result.output, c) == 0 && count(result.summed, c) == 0) result.summed += c;
  return count(result.summed, ellipsis) == 0 ? std::optional(result) : std::nullopt;
}

class Einsum : HabitContext {
 public:
  using HabitContext::HabitContext;

  bool found() {
    if (at_ < 2 || list_.kind(at_ - 1) != K::lparen || list_.text_of(at_ - 2) != "einsum") return false;
    std::size_t close = list_.partner[at_ - 1], first = at_ - 2;
    if (close == TokenList::none) return false;
    while (first >= 2 && list_.kind(first - 1) == K::dot) first -= 2;  // np.einsum
    report(join(list_.span(first), list_.span(close)), "Tap has no `einsum`: write an equation", "");
    auto subscripts = subscripts_of(list_.text_of(at_));
    auto operands = operands_until(close);
    if (!subscripts || !operands || operands->size() != subscripts->inputs.size()) {
      d_.help("write it like `C[i, k] = sum[j] A[i, j] * B[j, k]`");
      return true;
    }
    bool whole = first >= 2 && list_.kind(first - 1) == K::assign && list_.kind(first - 2) == K::name &&
                 ends_statement(close + 1);
    std::string equation = written(whole ? list_.text_of(first - 2) : "y", *subscripts, *operands);
    d_.help(fmt::format("write `{}`", equation));
    if (whole) d_.fix(join(list_.span(first - 2), list_.span(close)), equation);
    return true;
  }

 private:
  bool ends_statement(std::size_t at) const {
    K k = list_.kind(at);
    return k == K::rbrace || k == K::semicolon || k == K::end || list_.tokens[at].first_on_line;
  }

  // The names after the string.
  std::optional<std::vector<std::string>> operands_until(std::size_t close) const {
    std::vector<std::string> names;
    for (std::size_t at = at_ + 1; at < close; at += 2) {
      if (list_.kind(at) != K::comma || list_.kind(at + 1) != K::name) return std::nullopt;
      names.emplace_back(list_.text_of(at + 1));
    }
    return names;
  }

  // Whether it is the name of a dim, which index variables must not have.  x: f32[n]    dim n = 4
  bool is_dim(std::string_view name) const {
    for (std::size_t i = 0; i + 3 < list_.tokens.size(); ++i) {
      if (list_.kind(i) == K::dim && list_.text_of(i + 1) == name) return true;
      if (list_.kind(i) != K::colon || list_.kind(i + 2) != K::lbracket || list_.partner[i + 2] == TokenList::none)
        continue;
      for (std::size_t k = i + 3; k < list_.partner[i + 2]; ++k)
        if (list_.text_of(k) == name) return true;
    }
    return false;
  }

  std::string variable(char letter) const {
    std::string name = letter == ellipsis ? "batch" : std::string(1, letter);
    while (is_dim(name)) name += '_';
    return letter == ellipsis ? name + ".." : name;
  }

  std::string variables(const std::string& letters) const {
    std::string text;
    for (char letter : letters) text += (text.empty() ? "" : ", ") + variable(letter);
    return "[" + text + "]";
  }

  std::string written(std::string_view result, const Subscripts& subscripts,
                      const std::vector<std::string>& operands) const {
    std::string text = std::string(result) + variables(subscripts.output) + " = ";
    if (!subscripts.summed.empty()) text += "sum" + variables(subscripts.summed) + " ";
    for (std::size_t k = 0; k < operands.size(); ++k)
      text += (k > 0 ? " * " : "") + operands[k] + variables(subscripts.inputs[k]);
    return text;
  }
};

}  // namespace

bool habit_of_einsum(const TokenList& list, std::size_t string, Diagnostic& d) {
  return Einsum(list, string, d).found();
}

}  // namespace tap
