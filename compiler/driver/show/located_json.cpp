#include "compiler/driver/show/located_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/memory_failure.h"

namespace tap::driver {
namespace {

using nlohmann::json;

constexpr std::size_t deepest = 64;

// An iterator over the text that records its position.
struct CountingByte {
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* byte = nullptr;
  const char** reached = nullptr;

  reference operator*() const { return *byte; }
  CountingByte& operator++() {
    *reached = ++byte;
    return *this;
  }
  CountingByte operator++(int) {
    CountingByte before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingByte& other) const { return byte == other.byte; }
  bool operator!=(const CountingByte& other) const { return byte != other.byte; }
};

// Builds the values that nlohmann's parser reports; errors are thrown within this file.
class Builder {
 public:
  explicit Builder(std::string_view text) : text_(text), reached_(text.data()) {
    if (text.starts_with("\xef\xbb\xbf")) last_ = 3;
  }

  LocatedJson build() {
    json::sax_parse(CountingByte{text_.data(), &reached_}, CountingByte{text_.data() + text_.size(), &reached_}, this);
    return std::move(top_);
  }

  bool null() { return value(LocatedJson::Kind::null); }
  bool boolean(bool) { return value(LocatedJson::Kind::boolean); }
  bool number_integer(std::int64_t number) { return number_of(LocatedJson::Kind::whole, number); }
  bool number_unsigned(std::uint64_t number) {
    return number <= INT64_MAX ? number_of(LocatedJson::Kind::whole, static_cast<std::int64_t>(number))
                               : number_of(LocatedJson::Kind::number, 0);
  }
  bool number_float(double, const std::string&) { return number_of(LocatedJson::Kind::number, 0); }
  bool string(std::string& text) {
    add(LocatedJson::Kind::text, token()).text = std::move(text);
    return true;
  }
  bool binary(std::vector<std::uint8_t>&) { return false; }  // not in text
  bool key(std::string& text) {
    LocatedJson& object = *open_.back();
    ByteRange at = token();
    for (const LocatedJson::Name& other : object.names)
      if (other.text == text)
        throw JsonMistake{fmt::format("the field `{}` occurs twice", text), at, "here first", other.at};
    object.names.push_back({std::move(text), at});
    return true;
  }
  bool start_object(std::size_t) { return start(LocatedJson::Kind::object); }
  bool start_array(std::size_t) { return start(LocatedJson::Kind::list); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool parse_error(std::size_t bytes, const std::string&, const json::exception&) {
    std::size_t at = std::min(bytes == 0 ? 0 : bytes - 1, text_.size());
    throw JsonMistake{"invalid JSON from here", {at, std::min(at + 1, text_.size())}};
  }

 private:
  std::size_t reached() const { return static_cast<std::size_t>(reached_ - text_.data()); }
  // Only spaces, commas and colons separate two tokens.
  std::size_t begin() const { return std::min(text_.find_first_not_of(" \t\r\n,:", last_), text_.size()); }
  ByteRange token() {
    ByteRange at{begin(), reached()};
    last_ = at.end;
    return at;
  }

  bool value(LocatedJson::Kind kind) {
    add(kind, token());
    return true;
  }
  // The parser has also read the byte after a number.
  bool number_of(LocatedJson::Kind kind, std::int64_t number) {
    std::size_t first = begin();
    last_ = std::min(text_.find_first_not_of("+-.0123456789eE", first), text_.size());
    add(kind, {first, last_}).whole = number;
    return true;
  }

  LocatedJson& add(LocatedJson::Kind kind, ByteRange at) {
    LocatedJson* value = &top_;
    if (!open_.empty()) value = &open_.back()->items.emplace_back();
    value->kind = kind;
    value->at = at;
    return *value;
  }
  bool start(LocatedJson::Kind kind) {
    ByteRange at = token();
    if (open_.size() == deepest) throw JsonMistake{fmt::format("it is nested more than {} deep", deepest), at};
    open_.push_back(&add(kind, at));  // stays valid: its list grows again only after it is closed
    return true;
  }
  bool end() {
    last_ = open_.back()->at.end = reached();
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const char* reached_;
  std::size_t last_ = 0;  // where the last token ends
  LocatedJson top_;
  std::vector<LocatedJson*> open_;
};

}  // namespace

std::variant<LocatedJson, JsonMistake> parse_located_json(std::string_view text) {
  AllocationMustSucceed memory_guard;
  try {
    return Builder(text).build();
  } catch (JsonMistake& mistake) { return std::move(mistake); }
}

}  // namespace tap::driver
