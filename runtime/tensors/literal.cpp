#include "runtime/tensors/literal.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/failure.h"
#include "runtime/tensors/print_tensor.h"

namespace tap {
namespace {

constexpr std::size_t most_dims = 64;

Failure wrong_literal(std::string_view spec, const std::string& why) {
  return wrong_command(Code::data_spec, quoted(spec) + " is malformed: " + why);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// One pass over the text with a stack of counts, so that nesting cannot overflow our own stack.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, std::string_view spec) : text_(text), spec_(spec) {}

  Literal read() {
    while (true) {
      skip_blanks();
      if (accept('[')) {
        open();
        continue;
      }
      if (!accept(']')) {
        if (depth_known_ && counts_.size() != result_.shape.size()) throw ragged();
        depth_known_ = true;
        result_.shape.resize(counts_.size(), -1);
        result_.elements.push_back(parse_number(word(), spec_));
        count_element();
      } else {
        close();
      }
      if (!after_value()) break;
    }
    skip_blanks();
    if (at_ < text_.size())
      throw wrong_literal(spec_, "unexpected text after byte " + std::to_string(at_) + " of its value");
    for (auto& extent : result_.shape) extent = extent < 0 ? 0 : extent;
    return std::move(result_);
  }

 private:
  void open() {
    if (counts_.size() == most_dims)
      throw wrong_literal(spec_, "it has more than " + std::to_string(most_dims) + " dims");
    if (depth_known_ && counts_.size() >= result_.shape.size()) throw ragged();
    counts_.push_back(0);
    skip_blanks();
    if (result_.shape.size() < counts_.size()) result_.shape.resize(counts_.size(), -1);
  }

  void close() {
    if (counts_.empty()) throw wrong_literal(spec_, "unmatched `]`");
    // An empty bracket fixes the depth: its siblings cannot be deeper.
    if (counts_.back() == 0) {
      if (depth_known_ && counts_.size() != result_.shape.size()) throw ragged();
      depth_known_ = true;
      result_.shape.resize(counts_.size());
    }
    std::int64_t& extent = result_.shape[counts_.size() - 1];
    if (extent >= 0 && extent != counts_.back()) throw ragged();
    extent = counts_.back();
    counts_.pop_back();
    count_element();
  }

  void count_element() {
    if (!counts_.empty()) ++counts_.back();
  }

  // After an element or a `]`: more brackets may close, a comma continues the list, and closing the outermost ends it.
  bool after_value() {
    while (true) {
      if (counts_.empty()) return false;
      skip_blanks();
      if (accept(',')) {
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == ']') throw wrong_literal(spec_, "expected an element after `,`");
        return true;
      }
      if (!accept(']'))
        throw wrong_literal(spec_, "expected `,` or `]` at byte " + std::to_string(at_) + " of its value");
      close();
    }
  }

  std::string_view word() {
    std::size_t begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ',' && text_[at_] != '[' && text_[at_] != ']')
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  bool accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  Failure ragged() const {
    return wrong_literal(spec_, "its rows have different shapes, at byte " + std::to_string(at_) + " of its value");
  }

  std::string_view text_, spec_;
  std::size_t at_ = 0;
  std::vector<std::int64_t> counts_;  // elements so far in each open bracket
  bool depth_known_ = false;
  Literal result_;
};

}  // namespace

Literal parse_literal(std::string_view text, std::string_view spec) { return LiteralReader(text, spec).read(); }

Number parse_number(std::string_view text, std::string_view spec) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  const char* end = text.data() + text.size();
  bool plain = !text.empty() && text.find_first_not_of("+-.0123456789eE") == text.npos;  // no hex, no `infinity`
  std::int64_t whole = 0;
  auto [whole_end, whole_error] = std::from_chars(text.data(), end, whole);
  // -0 is whole only for integers; as a float it keeps its sign.
  if (plain && whole_error == std::errc{} && whole_end == end && !(whole == 0 && text[0] == '-')) return whole;
  double value = 0;
  auto [value_end, value_error] = std::from_chars(text.data(), end, value);
  bool only_digits = text.find_first_not_of("-0123456789") == text.npos;
  if (plain && value_error == std::errc{} && value_end == end && !(only_digits && value != 0)) return value;
  if (plain && value_end == end && value_error == std::errc::result_out_of_range) {
    throw wrong_literal(spec, "the number " + quoted(text) + " is out of range");
  }
  if (plain && only_digits && value_end == end)
    throw wrong_literal(spec, "the number " + quoted(text) + " does not fit in 64 bits");
  throw wrong_literal(spec, quoted(text) + " is not a number");
}

void store(Tensor& tensor, std::int64_t at, const Number& value, std::string_view spec) {
  ElementType type = tensor.type();
  auto refuse = [&](const std::string& what) {
    return wrong_command(Code::data_spec,
                         quoted(spec) + " stores " + what + " in a tensor of " + std::string(name_of(type)));
  };
  auto beyond_range = [&](const std::string& number) {
    return wrong_command(Code::data_spec, quoted(spec) + " stores " + number + ", which is beyond the range of " +
                                              std::string(name_of(type)));
  };
  auto require_finite = [&](const std::string& number) {
    if (std::isinf(tensor.load_f64(at))) throw beyond_range(number);
  };
  if (const auto* truth = std::get_if<bool>(&value)) {
    if (!is_bool(type)) throw refuse(*truth ? "true" : "false");
    return tensor.store_i64(at, *truth);
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (is_float(type)) {
      tensor.store_i64(at, *whole);
      return require_finite(std::to_string(*whole));
    }
    if (*whole < least_integer(type) || *whole > greatest_integer(type)) throw beyond_range(std::to_string(*whole));
    return tensor.store_i64(at, *whole);
  }
  double real = std::get<double>(value);
  if (is_float(type)) {
    tensor.store_f64(at, real);
    return std::isfinite(real) ? require_finite(shortest(real, ElementType::f64)) : void();
  }
  if (real == 0 && is_integer(type)) return tensor.store_i64(at, 0);  // `-0`
  throw refuse("the float " + shortest(real, ElementType::f64));
}

}  // namespace tap
