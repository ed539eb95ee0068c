#include "runtime/tensors/safetensors_header.h"

#include <limits>
#include <set>
#include <utility>

#include "runtime/failure.h"
#include "support/utf8.h"

namespace tap {
namespace {

// In the order of ElementType.
constexpr std::string_view types[element_type_count] = {"F64", "F32", "F16", "BF16", "I64",
                                                        "I32", "I16", "I8",  "U8",   "BOOL"};

class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& source_name, const DataLimits& limits)
      : text_(text), source_name_(source_name), limits_(limits) {}

  std::vector<SafetensorsEntry> header() {
    if (text_.empty() || text_[0] != '{') fail("`{`");
    std::set<std::string> names;
    members([&](std::string name) {
      if (!names.insert(name).second) throw twice(name);
      if (name == "__metadata__") return metadata();
      entries_.push_back(entry(std::move(name)));
      if (entries_.size() > limits_.entries) {
        throw wrong_data(Code::data_limit, source_name_ + " has more than " + plural(limits_.entries, "tensor"));
      }
    });
    skip_blanks();
    if (at_ < text_.size()) fail("only blanks");
    return std::move(entries_);
  }

 private:
  // '{' [string ':' member {',' string ':' member}] '}'
  template <class Member>
  void members(Member member) {
    expect('{', "`{`");
    if (accept('}')) return;
    do {
      std::string key = string("a name in double quotes");
      expect(':', "`:`");
      member(std::move(key));
    } while (accept(','));
    expect('}', "`,` or `}`");
  }

  void metadata() {
    std::set<std::string> keys;
    members([&](std::string key) {
      if (!keys.insert(key).second) throw twice(key);
      string("a string in double quotes (metadata must be strings)");
    });
  }

  SafetensorsEntry entry(std::string name) {
    SafetensorsEntry result;
    result.name = std::move(name);
    bool has_type = false, has_shape = false, has_range = false;
    members([&](const std::string& key) {
      if (key == "dtype") {
        if (std::exchange(has_type, true)) throw twice(key);
        result.type = type(result.name);
      } else if (key == "shape") {
        if (std::exchange(has_shape, true)) throw twice(key);
        for (std::uint64_t extent : integers(limits_.dims)) result.shape.push_back(static_cast<std::int64_t>(extent));
      } else if (key == "data_offsets") {
        if (std::exchange(has_range, true)) throw twice(key);
        std::vector<std::uint64_t> range = integers(2);
        if (range.size() != 2) fail("two offsets");
        result.begin = range[0];
        result.end = range[1];
      } else {
        throw malformed("the tensor " + quoted(result.name) + " has the unknown key " + quoted(key));
      }
    });
    for (auto [present, key] : {std::pair{has_type, "dtype"}, {has_shape, "shape"}, {has_range, "data_offsets"}}) {
      if (!present) throw malformed("the tensor " + quoted(result.name) + " lacks the key " + quoted(key));
    }
    return result;
  }

  ElementType type(const std::string& tensor) {
    std::string name = string("a type in double quotes");
    for (std::size_t i = 0; i < element_type_count; ++i) {
      if (types[i] == name) return static_cast<ElementType>(i);
    }
    throw wrong_data(Code::data_type, source_name_ + " holds " + quoted(tensor) + " of type " + quoted(name) +
                                          "; F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL are supported");
  }

  std::vector<std::uint64_t> integers(std::size_t most) {
    std::vector<std::uint64_t> all;
    expect('[', "`[`");
    if (accept(']')) return all;
    do {
      if (all.size() == most) fail("at most " + plural(most, "number"));
      all.push_back(integer());
    } while (accept(','));
    expect(']', "`,` or `]`");
    return all;
  }

  std::uint64_t integer() {
    skip_blanks();
    std::size_t begin = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      int digit = text_[at_] - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) {
        at_ = begin;
        fail("a number below 2^63");
      }
      value = value * 10 + digit;
    }
    if (at_ == begin || (text_[begin] == '0' && at_ - begin > 1)) {
      at_ = begin;
      fail("an unsigned number");
    }
    return static_cast<std::uint64_t>(value);
  }

  std::string string(const char* expected) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != '"') fail(expected);
    ++at_;
    std::string value;
    while (true) {
      if (at_ >= text_.size()) fail("the closing quote");
      char c = text_[at_];
      if (c == '"') break;
      if (c == '\\') {
        escape(value);
        continue;
      }
      std::size_t size = static_cast<unsigned char>(c) < 0x20 ? 0 : utf8_sequence(text_.substr(at_));
      if (size == 0) fail("valid UTF-8 without control characters");
      value += text_.substr(at_, size);
      at_ += size;
    }
    ++at_;
    return value;
  }

  void escape(std::string& value) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (auto which = letters.find(c); which != letters.npos) {
      value += meanings[which];
      at_ += 2;
      return;
    }
    std::uint32_t code = unit();
    if (code >= 0xD800 && code < 0xDC00) {
      if (text_.substr(at_, 2) != "\\u") fail("the second half of a surrogate pair");
      std::uint32_t low = unit();
      if (low < 0xDC00 || low > 0xDFFF) fail("the second half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      fail("both halves of a surrogate pair");
    }
    append_utf8(value, code);
  }

  std::uint32_t unit() {  // \uXXXX
    std::uint32_t code = 0;
    bool sound = text_.substr(at_, 2) == "\\u" && at_ + 6 <= text_.size();
    for (std::size_t i = 2; sound && i < 6; ++i) {
      char c = text_[at_ + i];
      int digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
      sound = digit >= 0;
      code = code << 4 | static_cast<std::uint32_t>(digit & 15);
    }
    if (!sound) fail("a JSON escape");
    at_ += 6;
    return code;
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
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  Failure twice(const std::string& key) const { return malformed("it has the key " + quoted(key) + " twice"); }
  Failure malformed(const std::string& what) const {
    return wrong_data(Code::data_malformed, source_name_ + " has a malformed header: " + what);
  }
  [[noreturn]] void fail(const std::string& expected) const {
    std::string found = at_ < text_.size() ? quoted(text_.substr(at_, 1)) : "its end";
    throw malformed("expected " + expected + " at byte " + std::to_string(at_) + ", found " + found);
  }

  std::string_view text_;
  const std::string& source_name_;
  const DataLimits& limits_;
  std::size_t at_ = 0;
  std::vector<SafetensorsEntry> entries_;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text, const std::string& source_name,
                                                       const DataLimits& limits) {
  return JsonReader(text, source_name, limits).header();
}

std::string_view safetensors_type(ElementType type) { return types[static_cast<std::size_t>(type)]; }

std::string json_string(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') result += {'\\', c};
    else if (byte < 0x20) result += {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
    else result += c;
  }
  return result + '"';
}

}  // namespace tap
