// JSON values with their positions, for messages with line and column. nlohmann's parser reports no positions, but it
// reads byte by byte: the number of bytes read when it reports a value gives the end of that value.
//
//   {"axis": 0}     object at 0..11, with the member `axis` (its name at 1..7), an integer at 9..10
//
// Duplicate keys and too deep nesting are errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tap::driver {

struct ByteRange {
  std::size_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

struct LocatedJson {
  enum class Kind : std::uint8_t { null, boolean, whole, number, text, list, object };
  Kind kind = Kind::null;
  ByteRange at;
  std::int64_t whole = 0;          // an integer of 64 bits; any other number has the kind `number`
  std::string text = {};           // for a string
  std::vector<LocatedJson> items;  // of an array, or the values of an object …
  struct Name {
    std::string text;
    ByteRange at;
  };
  std::vector<Name> names;  // … and their names
};

struct JsonMistake {
  std::string message;
  ByteRange at;
  std::string other = {};  // the text at the second location, if there is one
  ByteRange other_at = {};
};
std::variant<LocatedJson, JsonMistake> parse_located_json(std::string_view text);

}  // namespace tap::driver
