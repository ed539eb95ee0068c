#include "runtime/tensors/input_spec.h"

#include <algorithm>
#include <charconv>

#include "runtime/failure.h"
#include "runtime/tensors/spec_text.h"

namespace tap {
namespace {

constexpr std::string_view forms =
    "X=@x.npy, X=@all.npz:entry, @all.safetensors, X=rand:42, X=f32[4, 8]=zeros or X=[[1, 2], [3, 4]]";

struct MakerName {
  std::string_view name;
  Maker::Kind kind;
  bool has_value;
};
constexpr MakerName makers[] = {
    {"zeros", Maker::Kind::zeros, false},   {"ones", Maker::Kind::ones, false}, {"iota", Maker::Kind::iota, false},
    {"const", Maker::Kind::constant, true}, {"rand", Maker::Kind::rand, true},  {"randn", Maker::Kind::randn, true},
};

Failure wrong_input(std::string_view spec, const std::string& why) {
  return wrong_command(Code::data_spec, quoted(spec) + " is not a valid input: " + why, "write " + std::string(forms));
}

FileValue parse_file(std::string_view text, std::string_view spec) {
  auto [path, entry] = split_entry(text);
  if (!format_of(path)) {
    throw wrong_input(spec, "the name of the file " + quoted(text) + " does not end in .npy, .npz or .safetensors");
  }
  if (path.find('\0') != path.npos) throw wrong_input(spec, "the file name contains a NUL byte");
  return {std::string(path), std::string(entry)};
}

std::uint64_t parse_seed(std::string_view text, std::string_view spec) {
  std::uint64_t seed = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw wrong_input(spec, "the seed " + quoted(text) + " is not an integer from 0 to 2^64 - 1");
  }
  return seed;
}

std::optional<Maker> parse_maker(std::string_view text, std::string_view spec) {
  std::size_t colon = std::min(text.find(':'), text.size());
  for (const MakerName& maker : makers) {
    if (maker.name != text.substr(0, colon)) continue;
    if (maker.has_value != (colon < text.size())) {
      throw wrong_input(spec, maker.has_value
                                  ? quoted(maker.name) + " takes a number: " + std::string(maker.name) + ":1"
                                  : quoted(maker.name) + " takes no number");
    }
    Maker result{maker.kind};
    if (!maker.has_value) return result;
    std::string_view value = text.substr(colon + 1);
    if (maker.kind == Maker::Kind::constant) result.constant = parse_number(value, spec);
    else result.seed = parse_seed(value, spec);
    return result;
  }
  return std::nullopt;
}

// `f32[4, 8]=`: removes it from the start of `text`, if it is there.
std::optional<TypedShape> take_typed_shape(std::string_view& text, std::string_view spec, bool alone) {
  std::size_t bracket = text.find('[');
  auto type = element_type_named(trimmed(text.substr(0, std::min(bracket, text.size()))));
  if (bracket == text.npos || !type) return std::nullopt;
  std::size_t close = text.find(']', bracket);
  if (close == text.npos) throw wrong_input(spec, "the shape's `]` is missing");
  TypedShape result{*type, {}};
  std::string_view extents = trimmed(text.substr(bracket + 1, close - bracket - 1));
  while (!extents.empty()) {
    std::size_t comma = extents.find(',');
    std::string_view extent = trimmed(extents.substr(0, comma));
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(extent.data(), extent.data() + extent.size(), value);
    if (error != std::errc{} || end != extent.data() + extent.size() || value < 0) {
      throw wrong_input(spec, "the extent " + quoted(extent) + " is not an integer from 0 to 2^63 - 1");
    }
    result.shape.push_back(value);
    if (comma == extents.npos) break;
    extents = trimmed(extents.substr(comma + 1));
    if (extents.empty()) throw wrong_input(spec, "expected an extent after `,`");
  }
  text = trimmed(text.substr(close + 1));
  if (alone && text.empty()) return result;
  if (text.empty() || text[0] != '=') throw wrong_input(spec, "expected `=` and a value after the shape");
  text = trimmed(text.substr(1));
  return result;
}

// Tap's name for another language's type: f32 for float32, and likewise int64, uint8, bfloat16. Empty for other words.
std::string own_type_name(std::string_view word) {
  for (auto [theirs, ours] : {std::pair{"bfloat", "bf"}, {"float", "f"}, {"uint", "u"}, {"int", "i"}}) {
    if (!word.starts_with(theirs)) continue;
    std::string name = ours + std::string(word.substr(std::string_view(theirs).size()));
    return element_type_named(name) ? name : "";
  }
  return "";
}

// Reports a value that is neither a file nor a generator nor the start of a literal, with the probable intention.
void refuse_other_words(const std::string& name, std::string_view value, std::string_view spec) {
  std::string_view word = value.substr(0, value.find_first_of("[:,( "));
  if (is_identifier(word) && word != "true" && word != "false" && word != "inf" && word != "nan") {
    std::string help = "write zeros, ones, iota, const:2.5, rand:42, randn:42, or the values: " + name + "=[1, 2, 3]";
    std::string type = own_type_name(word);
    if (!type.empty()) help = "write " + name + "=" + type + std::string(value.substr(word.size()));
    if (word == "True" || word == "False") help = word == "True" ? "write true" : "write false";
    throw wrong_command(
        Code::data_spec,
        quoted(spec) + " is not a valid input: " + quoted(word) + " is neither a number nor a generator", help);
  }
  bool list = !value.starts_with('[') && value.find(',') != value.npos;
  if (list)
    throw wrong_command(Code::data_spec, quoted(spec) + " is not a valid input: several values need brackets",
                        "write " + name + "=[" + std::string(value) + "]");
}

InputSpec parse_spec(std::string_view text, bool shape_alone) {
  InputSpec spec;
  spec.text = text;
  std::string_view value = trimmed(text);
  if (value.starts_with('@')) {
    FileValue file = parse_file(value.substr(1), text);
    if (!is_archive(*format_of(file.path)) || !file.entry.empty()) {
      throw wrong_input(text, "the name of the input is missing");
    }
    spec.value = std::move(file);
    return spec;
  }
  std::size_t equals = value.find('=');
  if (equals == value.npos) throw wrong_input(text, "expected a name and `=`");
  spec.name = trimmed(value.substr(0, equals));
  if (!is_identifier(spec.name)) throw wrong_input(text, quoted(spec.name) + " is not the name of an input");
  value = trimmed(value.substr(equals + 1));
  if (value.empty()) throw wrong_input(text, "expected a value after `=`");
  if (value.starts_with('@')) {
    spec.value = parse_file(value.substr(1), text);
    return spec;
  }
  spec.own = take_typed_shape(value, text, shape_alone);
  if (spec.own && value.empty()) spec.value = Maker{Maker::Kind::zeros};
  else if (auto maker = parse_maker(value, text)) spec.value = *maker;
  else if (format_of(split_entry(value).first))
    throw wrong_command(Code::data_spec, quoted(text) + " is not a valid input: a file name needs an `@`",
                        "write " + spec.name + "=@" + std::string(value));
  else {
    refuse_other_words(spec.name, value, text);
    spec.value = parse_literal(value, text);
  }
  return spec;
}

}  // namespace

InputSpec parse_input_spec(std::string_view text) { return parse_spec(text, false); }
InputSpec parse_shape_spec(std::string_view text) { return parse_spec(text, true); }

std::vector<InputSpec> expand(const InputSpec& spec, TensorFiles& files) {
  if (!spec.name.empty()) return {spec};
  const FileValue& file = std::get<FileValue>(spec.value);
  std::vector<InputSpec> all;
  for (const std::string& entry : files.entries(file.path)) {
    all.push_back({spec.text, spec.role, entry, std::nullopt, FileValue{file.path, entry}});
  }
  return all;
}

std::vector<InputSpec> match_inputs(const std::vector<InputSpec>& specs, const std::vector<DeclaredInput>& declared) {
  std::string help = declared.empty() ? "the program has no inputs" : "the program's inputs are ";
  for (std::size_t i = 0; i < declared.size(); ++i) help += (i == 0 ? "" : "; ") + declared[i].description;
  auto fail = [&](const std::string& message) { return wrong_data(Code::data_missing, message, help); };
  std::vector<InputSpec> ordered;
  for (const InputSpec& spec : specs) {
    bool known = std::any_of(declared.begin(), declared.end(), [&](const auto& d) { return d.name == spec.name; });
    if (!known) throw fail(quoted(spec.name) + ", in " + quoted(spec.text) + ", is not an input of the program");
  }
  std::string missing;
  for (const DeclaredInput& input : declared) {
    auto matches = [&](const InputSpec& s) { return s.name == input.name; };
    auto first = std::find_if(specs.begin(), specs.end(), matches);
    if (first == specs.end()) {
      missing += (missing.empty() ? "" : ", ") + quoted(input.name);
      continue;
    }
    auto second = std::find_if(first + 1, specs.end(), matches);
    if (second != specs.end()) {
      throw fail("the input " + quoted(input.name) + " is given twice, in " + quoted(first->text) + " and in " +
                 quoted(second->text));
    }
    ordered.push_back(*first);
  }
  if (!missing.empty()) throw fail("no value is given for " + missing);
  return ordered;
}

}  // namespace tap
