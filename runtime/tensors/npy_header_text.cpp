#include "runtime/tensors/npy_header_text.h"

#include <limits>

#include "runtime/failure.h"

namespace tap {
namespace {

constexpr std::string_view keys[] = {"descr", "fortran_order", "shape"};

class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& source_name, std::size_t most_dims)
      : text_(text), source_name_(source_name), most_dims_(most_dims) {}

  NpyHeaderText header() {
    expect('{', "`{`");
    while (!accept('}')) {
      entry();
      if (accept(',')) continue;
      expect('}', "`,` or `}`");
      break;
    }
    skip_blanks();
    if (at_ < text_.size()) fail("only blanks");
    for (std::size_t i = 0; i < std::size(keys); ++i) {
      if (!seen_[i]) throw malformed("lacks the key " + quoted(keys[i]));
    }
    return std::move(result_);
  }

 private:
  void entry() {
    std::size_t start = at_;
    std::string key = string("a key in quotes or `}`");
    for (std::size_t i = 0; i < std::size(keys); ++i) {
      if (key != keys[i]) continue;
      if (seen_[i]) throw malformed("has the key " + quoted(key) + " twice");
      seen_[i] = true;
      expect(':', "`:`");
      return value(i);
    }
    throw malformed("has the unknown key " + quoted(key) + " at byte " + std::to_string(start) +
                    "; expected `descr`, `fortran_order` and `shape`");
  }

  void value(std::size_t key) {
    switch (key) {
      case 0:
        skip_blanks();
        if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
          throw wrong_data(Code::data_type,
                           source_name_ + " has structured elements (records); expected numbers or bool");
        }
        result_.descr = string("a type in quotes");
        return;
      case 1: result_.fortran_order = truth(); return;
      case 2: shape(); return;
    }
  }

  std::string string(const char* expected) {
    skip_blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) fail(expected);
    char quote = text_[at_];
    std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte < 0x20 || byte > 0x7E || byte == '\\') fail("plain ASCII in the string");
      ++at_;
    }
    if (at_ >= text_.size()) fail("the string's closing quote");
    return std::string(text_.substr(begin, at_++ - begin));
  }

  bool truth() {
    skip_blanks();
    for (bool value : {true, false}) {
      std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("`True` or `False`");
  }

  void shape() {
    expect('(', "the shape's `(`");
    if (accept(')')) return;
    while (true) {
      result_.shape.push_back(extent());
      if (result_.shape.size() > most_dims_) {
        throw wrong_data(Code::data_limit, source_name_ + " has more than " + std::to_string(most_dims_) + " dims");
      }
      bool comma = accept(',');
      if (accept(')')) {
        if (comma || result_.shape.size() > 1) return;
        throw malformed("has the number " + std::to_string(result_.shape[0]) + " as its shape; expected a tuple: (" +
                        std::to_string(result_.shape[0]) + ",)");
      }
      if (!comma) fail("`,` or `)`");
    }
  }

  std::int64_t extent() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '-') {
      throw wrong_data(Code::data_shape, source_name_ + " has a negative extent in its shape, at byte " +
                                             std::to_string(at_) + " of its header");
    }
    std::size_t begin = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      int digit = text_[at_] - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) {
        throw wrong_data(Code::data_shape, source_name_ +
                                               " has an extent in its shape that does not fit in 64 bits, at byte " +
                                               std::to_string(begin) + " of its header");
      }
      value = value * 10 + digit;
    }
    if (at_ == begin || (text_[begin] == '0' && at_ - begin > 1)) {
      at_ = begin;
      fail("an extent");
    }
    return value;
  }

  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* expected) {
    if (!accept(c)) fail(expected);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  Failure malformed(const std::string& what) const {
    return wrong_data(Code::data_malformed, source_name_ + " has a malformed header: it " + what);
  }
  [[noreturn]] void fail(const std::string& expected) const {
    std::string found = at_ < text_.size() ? quoted(text_.substr(at_, 1)) : "its end";
    throw wrong_data(Code::data_malformed, source_name_ + " has a malformed header: expected " + expected +
                                               " at byte " + std::to_string(at_) + ", found " + found);
  }

  std::string_view text_;
  const std::string& source_name_;
  std::size_t most_dims_;
  std::size_t at_ = 0;
  NpyHeaderText result_;
  bool seen_[std::size(keys)] = {};
};

}  // namespace

NpyHeaderText parse_npy_header_text(std::string_view text, const std::string& source_name, std::size_t most_dims) {
  return HeaderReader(text, source_name, most_dims).header();
}

}  // namespace tap
