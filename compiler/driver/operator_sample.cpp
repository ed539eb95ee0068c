#include "compiler/driver/operator_sample.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/standard_library.h"

namespace tap::driver {
namespace {

constexpr std::int64_t sample_size = 4;
constexpr std::string_view program_name = "ops_sample";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

// One attempt: a rank for every pack and a value for every parameter without default.
struct Attempt {
  std::map<std::string, std::int64_t> ranks;
  std::map<std::string, std::string> parameters;  // by name; as written
};

class SampleWriter {
 public:
  SampleWriter(const SourceMap& sources, const ast::Module& module, const Signature& signature,
               const SampleOptions& options, const Attempt& attempt)
      : sources_(sources), module_(module), signature_(signature), options_(options), attempt_(attempt) {}

  std::string program(const std::string& callee) {
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
    std::string dims;
    for (const auto& [name, size] : sizes_) dims += fmt::format("dim {} = {}\n", name, size);
    return fmt::format("{}program {}({}) -> ({}) {{ {} = {}{}({}) }}\n", dims, program_name, inputs, results, names,
                       callee, parameter_list(), arguments);
  }

  std::string sizes() const { return described_; }

 private:
  static std::string separator(const std::string& list) { return list.empty() ? "" : ", "; }
  void describe(const std::string& what, const std::string& value) {
    described_ += separator(described_) + what + " = " + value;
  }

  std::int64_t size_of_dim(const std::string& name) {
    auto given = options_.dims.find(name);
    std::int64_t size = given == options_.dims.end() ? sample_size : given->second;
    if (sizes_.emplace("ops_" + name, size).second) describe(name, std::to_string(size));
    return size;
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
    auto given = attempt_.parameters.find(name);
    if (given != attempt_.parameters.end()) return given->second;
    std::string chosen = "f32";
    for (const ast::WhereClause& where : *signature_.where)
      if (where.type_name && where.type_name->text == name && where.type_class->text == "int") chosen = "i32";
    if (generics_.emplace(name, chosen).second) describe(name, chosen);
    return chosen;
  }

  // The dims that stand for a pack, or for broadcast(p, q): then those of the longer one.
  std::string pack(const ast::DimItem& item) {
    if (const auto* ref = std::get_if<ast::PackRef>(&module_[item.size].node)) return pack_dims(ref->name);
    const auto* call = std::get_if<ast::Call>(&module_[item.size].node);
    std::string longest;
    for (const ast::Arg& arg : call ? call->args : std::vector<ast::Arg>{}) {
      std::string name(sources_.text(module_[arg.value].span));
      while (!name.empty() && name.back() == '.') name.pop_back();
      if (longest.empty() || attempt_.ranks.at(name) > attempt_.ranks.at(longest)) longest = name;
    }
    return pack_dims(longest);
  }

  std::string pack_dims(const std::string& name) {
    std::string dims, shown;
    auto rank = attempt_.ranks.find(name);
    if (rank == attempt_.ranks.end()) return "";
    for (std::int64_t axis = 0; axis < rank->second; ++axis) {
      std::string dim = fmt::format("{}_{}", name, axis);
      sizes_.emplace("ops_" + dim, sample_size);
      dims += separator(dims) + "ops_" + dim;
      shown += separator(shown) + std::to_string(sample_size);
    }
    if (packs_.insert({name, rank->second}).second) describe(name, "[" + shown + "]");
    return dims;
  }

  // A size as it is written, with the operator's dims and parameters under names of the sample's own.
  std::string size_text(Span span) {
    std::string_view text = sources_.text(span);
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      if (!is_letter(text[i])) {
        out += text[i++];
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      std::string word(text.substr(i, end - i));
      if ((word == "size" || word == "rank") && end < text.size() && text[end] == '(') {
        std::size_t close = text.find(')', end);
        std::int64_t rank = rank_of(std::string(text.substr(end + 1, close - end - 1)));
        std::int64_t value = rank;
        if (word == "size")
          for (value = 1; rank > 0; --rank) value *= sample_size;
        out += std::to_string(value);
        end = close + 1;
      } else {
        out += parameter_or_dim(word);
      }
      i = end;
    }
    return out;
  }

  std::int64_t rank_of(std::string pack) const {
    while (!pack.empty() && pack.back() == '.') pack.pop_back();
    auto rank = attempt_.ranks.find(pack);
    return rank == attempt_.ranks.end() ? 0 : rank->second;
  }

  std::string parameter_or_dim(const std::string& word) {
    for (const ast::Param& param : *signature_.params) {
      if (param.name.text != word) continue;
      auto value = attempt_.parameters.find(word);
      if (value != attempt_.parameters.end()) return "(" + value->second + ")";
      if (param.default_value) return "(" + std::string(sources_.text(module_[*param.default_value].span)) + ")";
    }
    size_of_dim(word);
    return "ops_" + word;
  }

  std::string parameter_list() {
    std::string list;
    for (const ast::Param& param : *signature_.params) {
      auto value = attempt_.parameters.find(param.name.text);
      if (value == attempt_.parameters.end()) continue;
      list += separator(list) + (param.pack ? value->second : param.name.text + " = " + value->second);
      describe(param.name.text, value->second);
    }
    return list.empty() ? "" : "<" + list + ">";
  }

  const SourceMap& sources_;
  const ast::Module& module_;
  const Signature& signature_;
  const SampleOptions& options_;
  const Attempt& attempt_;
  std::map<std::string, std::int64_t> sizes_, packs_;
  std::map<std::string, std::string> generics_;
  std::string described_;
};

std::vector<std::string> packs_of(const ast::Module& module, const Signature& signature) {
  std::vector<std::string> packs;
  for (const auto* list : {signature.inputs, signature.results})
    for (const ast::TensorParam& tensor : *list)
      for (const ast::DimItem& item : tensor.type.dims)
        if (const auto* ref = std::get_if<ast::PackRef>(&module[item.size].node))
          if (std::find(packs.begin(), packs.end(), ref->name) == packs.end()) packs.push_back(ref->name);
  return packs;
}

std::vector<std::string> candidate_values(const ast::Param& param) {
  if (param.kind.text == "bool") return {"false", "true"};
  if (param.kind.text == "float") return {"1.0"};
  if (param.kind.text == "type") return {"f32"};
  return {"-1", "1", "2", "0", "4", "-2"};
}

// All combinations, likely ones first.
std::vector<Attempt> attempts(const ast::Module& module, const Signature& signature, const SampleOptions& options) {
  std::vector<Attempt> list{{{}, options.parameters}};
  auto multiply = [&](auto values, auto assign) {
    std::vector<Attempt> all;
    for (const auto& value : values)
      for (Attempt attempt : list) {
        assign(attempt, value);
        all.push_back(std::move(attempt));
      }
    list = std::move(all);
  };
  for (const std::string& pack : packs_of(module, signature))
    multiply(std::vector<std::int64_t>{1, 2, 0}, [&](Attempt& a, std::int64_t rank) { a.ranks[pack] = rank; });
  for (const ast::Param& param : *signature.params)
    if (!param.default_value && !options.parameters.contains(param.name.text))
      multiply(candidate_values(param),
               [&](Attempt& a, const std::string& value) { a.parameters[param.name.text] = value; });
  return list;
}

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

std::optional<Sample> compile_sample(Session& session, const ast::Module& module, const Signature& signature,
                                     FileId file, bool library, const SampleOptions& options) {
  CompileOptions compile_options;
  compile_options.program = program_name;
  compile_options.standard_library = embedded::std_tap;
  for (const Attempt& attempt : attempts(module, signature, options)) {
    SampleWriter writer(session.sources, module, signature, options, attempt);
    std::string program = writer.program(library ? "std." + signature.name : signature.name);
    std::string text = library ? "use std\n" : session.sources.file(file).text() + "\n";
    FileId sample = session.sources.add(session.sources.file(file).path(), text + program);
    Diagnostics diagnostics;
    std::optional<Compiled> compiled = compile(session.sources, sample, compile_options, diagnostics);
    if (compiled && !diagnostics.has_errors()) return Sample{std::move(*compiled), writer.sizes()};
  }
  return std::nullopt;
}

}  // namespace tap::driver
