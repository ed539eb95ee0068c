#include "compiler/driver/sample_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/frontend/elaborate/size_names.h"
#include "support/element_type.h"

namespace tap::driver {
namespace {

constexpr std::int64_t sample_size = 4;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

bool is_keyword(const std::string& word) {
  static constexpr std::string_view words[] = {"if", "then", "else", "and", "or", "not", "true", "false"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// `2, 3` as a list. Pre: integers and commas, since the options were checked.
std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> all;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    std::int64_t value = 0;
    auto [stop, error] = std::from_chars(at, end, value);
    if (error == std::errc()) all.push_back(value);
    at = std::find_if(stop == at ? stop + 1 : stop, end, [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
  }
  return all;
}

class SampleWriter {
 public:
  SampleWriter(const SourceMap& sources, const ast::Module& module, const Signature& signature,
               const SampleSizes& given)
      : sources_(sources), module_(module), signature_(signature), given_(given) {}

  SampleProgram write(const std::string& callee) {
    std::string inputs, results, arguments, names;
    for (const auto& input : *signature_.inputs) {
      inputs += separator(inputs) + input.name.text + ": " + type(input.type);
      arguments += separator(arguments) + input.name.text;
    }
    for (const auto& result : *signature_.results) {
      results += separator(results) + "ops_" + result.name.text + ": " + type(result.type);
      names += separator(names) + "ops_" + result.name.text;
    }
    if (signature_.results->size() > 1) names = "(" + names + ")";
    std::string dims, parameters = parameter_list();
    for (const auto& [name, size] : sizes_) dims += fmt::format("dim {} = {}\n", name, size);
    return {fmt::format("{}program {}({}) -> ({}) {{ {} = {}{}({}) }}\n", dims, sample_program_name, inputs, results,
                        names, callee, parameters, arguments),
            described_};
  }

 private:
  static std::string separator(const std::string& list) { return list.empty() ? "" : ", "; }
  void describe(const std::string& what, const std::string& value) {
    described_ += separator(described_) + what + " = " + value;
  }

  const ast::Param* parameter(const std::string& name) const {
    for (const ast::Param& param : *signature_.params)
      if (param.name.text == name) return &param;
    return nullptr;
  }
  // The sample's value, else its default, else nothing.
  std::string value_of(const ast::Param& param) const {
    auto value = given_.parameters.find(param.name.text);
    if (value != given_.parameters.end()) return value->second;
    return param.default_value ? std::string(sources_.text(module_[*param.default_value].span)) : "";
  }
  std::int64_t size_of_dim(const std::string& name) const {
    auto given = given_.dims.find(name);
    return given == given_.dims.end() ? sample_size : given->second;
  }

  void use_dim(const std::string& name) {
    if (sizes_.emplace("ops_" + name, size_of_dim(name)).second) describe(name, std::to_string(size_of_dim(name)));
  }

  std::string type(const ast::TypeExpr& type) {
    std::string dims;
    for (const ast::DimItem& item : type.dims) {
      std::string text = item.pack ? pack(item) : size_text(module_[item.size].span);
      if (!text.empty()) dims += separator(dims) + text;
    }
    return element(type.element.text) + "[" + dims + "]";
  }

  std::string element(const std::string& name) {
    if (element_type_named(name)) return name;
    if (const ast::Param* param = parameter(name)) return value_of(*param);
    std::string chosen = "f32";
    for (const ast::WhereClause& where : *signature_.where)
      if (where.type_name && where.type_name->text == name && where.type_class->text == "int") chosen = "i32";
    if (generics_.emplace(name, chosen).second) describe(name, chosen);
    return chosen;
  }

  // The dims for a pack, or for broadcast(p, q): the longer pack's, so nothing is broadcast.
  std::string pack(const ast::DimItem& item) {
    if (const auto* ref = std::get_if<ast::PackRef>(&module_[item.size].node)) return pack_dims(ref->name);
    const auto* call = std::get_if<ast::Call>(&module_[item.size].node);
    std::string longest;
    for (const ast::Arg& arg : call ? call->args : std::vector<ast::Arg>{}) {
      std::string name = pack_name(sources_.text(module_[arg.value].span));
      if (longest.empty() || sizes_of(name).size() > sizes_of(longest).size()) longest = name;
    }
    return pack_dims(longest);
  }

  static std::string pack_name(std::string_view text) {
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.remove_suffix(1);
    return std::string(text);
  }

  // The sizes in a pack of dims, or the integers in an int pack.
  std::vector<std::int64_t> sizes_of(const std::string& pack) const {
    if (const ast::Param* param = parameter(pack)) return numbers(value_of(*param));
    auto rank = given_.ranks.find(pack);
    return std::vector<std::int64_t>(rank == given_.ranks.end() ? 0 : static_cast<std::size_t>(rank->second),
                                     size_of_dim(pack));
  }

  std::string pack_dims(const std::string& name) {
    std::vector<std::int64_t> sizes = sizes_of(name);
    std::string list = fmt::format("{}", fmt::join(sizes, ", "));
    if (parameter(name)) return list;
    std::string dims;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      std::string dim = fmt::format("ops_{}_{}", name, axis);
      sizes_.emplace(dim, sizes[axis]);
      dims += separator(dims) + dim;
    }
    if (packs_.emplace(name, true).second) describe(name, "[" + list + "]");
    return dims;
  }

  // The source of a size, with the operator's dims and parameters renamed to the sample's.
  std::string size_text(Span span) { return renamed(sources_.text(span)); }
  std::string renamed(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      if (!is_letter(text[i])) {
        out += text[i++];
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      std::string word(text.substr(i, end - i));
      if (end < text.size() && text[end] == '(') {  // a function of sizes
        if (word == "size" || word == "rank") {
          std::size_t close = text.find(')', end);
          out += std::to_string(of_pack(word, pack_name(text.substr(end + 1, close - end - 1))));
          end = close + 1;
        } else {
          out += word;
        }
      } else {
        out += is_keyword(word) ? word : parameter_or_dim(word);
      }
      i = end;
    }
    return out;
  }

  std::int64_t of_pack(const std::string& function, const std::string& pack) const {
    std::vector<std::int64_t> sizes = sizes_of(pack);
    if (function == "rank") return static_cast<std::int64_t>(sizes.size());
    std::int64_t count = 1;
    for (std::int64_t size : sizes)
      if (__builtin_mul_overflow(count, size, &count)) return 0;  // a program of this size does not compile anyway
    return count;
  }

  std::string parameter_or_dim(const std::string& word) {
    if (const ast::Param* param = parameter(word)) {
      std::string value = value_of(*param);
      bool plain = !value.empty() && value.find_first_not_of("0123456789") == value.npos;
      bool is_name = std::all_of(value.begin(), value.end(), is_word);
      if (!plain) return is_name ? renamed(value) : "(" + renamed(value) + ")";  // a default may use other parameters
      sizes_.emplace("ops_" + word, numbers(value).at(0));                       // by name, for messages
    } else {
      use_dim(word);
    }
    return "ops_" + word;
  }

  std::string parameter_list() {
    std::string list;
    for (const ast::Param& param : *signature_.params) {
      auto value = given_.parameters.find(param.name.text);
      if (value == given_.parameters.end()) continue;
      std::string written = param.pack ? value->second : param.name.text + " = " + value->second;
      if (!written.empty()) list += separator(list) + written;
      describe(param.name.text, param.pack ? "[" + value->second + "]" : value->second);
    }
    return list.empty() ? "" : "<" + list + ">";
  }

  const SourceMap& sources_;
  const ast::Module& module_;
  const Signature& signature_;
  const SampleSizes& given_;
  std::map<std::string, std::int64_t> sizes_;
  std::map<std::string, bool> packs_;
  std::map<std::string, std::string> generics_;
  std::string described_;
};

}  // namespace

std::vector<Signature> signatures(const ast::Module& module) {
  std::vector<Signature> list;
  auto add = [&](const auto& decl, Span span) {
    list.push_back({decl.doc, decl.name.text, &decl.params, &decl.inputs, &decl.results, &decl.where, span});
  };
  for (const ast::Declaration& declaration : module.declarations) {
    if (const auto* op = std::get_if<ast::OpDecl>(&declaration.node)) add(*op, declaration.span);
    if (const auto* op = std::get_if<ast::ExternDecl>(&declaration.node)) add(*op, declaration.span);
  }
  return list;
}

SampleProgram write_sample(const SourceMap& sources, const ast::Module& module, const Signature& signature,
                           const SampleSizes& sizes, const std::string& callee) {
  return SampleWriter(sources, module, signature, sizes).write(callee);
}

SizeNames size_names(const ast::Module& module, const Signature& signature) {
  SizeNames names;
  auto add = [&](const std::string& name, SizeName kind) {
    std::vector<std::string>& list = kind == SizeName::pack ? names.packs : names.dims;
    auto is_it = [&](const ast::Param& param) { return param.name.text == name; };
    bool parameter = std::any_of(signature.params->begin(), signature.params->end(), is_it);
    if (!parameter && std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  for (const auto* list : {signature.inputs, signature.results})
    for (const ast::TensorParam& tensor : *list)
      for (const ast::DimItem& item : tensor.type.dims) for_size_names(module, item.size, add);
  return names;
}

}  // namespace tap::driver
