#include "compiler/driver/bindings/manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "compiler/driver/bindings/library_files.h"
#include "runtime/failure.h"
#include "support/checked.h"
#include "support/memory_failure.h"

namespace tap::driver {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json tensors(const std::vector<backend::ProgramTensor>& list) {
  ordered_json out = ordered_json::array();
  for (const backend::ProgramTensor& t : list)
    out.push_back(
        {{"name", t.name}, {"element", name_of(t.type.element)}, {"shape", t.type.shape}, {"constant", t.constant}});
  return out;
}

class ManifestReader {
 public:
  ManifestReader(std::string_view text, const std::string& path) : path_(path) {
    all_ = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (all_.is_discarded() || !all_.is_object()) wrong("it is not a JSON object");
  }

  Manifest run() {
    if (text(all_, "format") != "tapestry-manifest") wrong("`format` must be tapestry-manifest");
    std::int64_t version = number(all_, "version");
    if (version != manifest_version)
      wrong(fmt::format("it has version {}; this tapc reads version {}", version, manifest_version));
    Manifest m;
    m.abi = number(all_, "abi");
    m.program = text(all_, "program");
    m.prefix = text(all_, "prefix");
    const json& library = part(all_, "library");
    m.file = text(library, "file");
    m.hash = text(library, "sha256");
    if (m.file.empty() || m.file.find('/') != m.file.npos || m.file.find('\0') != m.file.npos || m.file == "..")
      wrong("the library's `file` must be the name of a file in the manifest's folder");
    m.target = text(part(all_, "target"), "name");
    m.features = texts(part(all_, "target"), "features");
    m.inputs = tensors(all_, "inputs");
    m.outputs = tensors(all_, "outputs");
    m.outside = texts(all_, "outside_kernels");
    const json& work = part(all_, "work");
    m.shards = number(work, "shards");
    m.work = {real(work, "operations"), real(work, "bytes")};
    return m;
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    throw wrong_data(Code::data_malformed, tap::quoted(path_) + " is not the manifest of a compiled program: " + what);
  }
  const json& part(const json& in, const char* key) const {
    auto it = in.is_object() ? in.find(key) : in.end();
    if (!in.is_object() || it == in.end()) wrong(fmt::format("`{}` is missing", key));
    return *it;
  }
  std::string text(const json& in, const char* key) const {
    const json& value = part(in, key);
    if (!value.is_string()) wrong(fmt::format("`{}` must be a string", key));
    return value.get<std::string>();
  }
  std::int64_t number(const json& in, const char* key) const {
    const json& value = part(in, key);
    if (!value.is_number_integer()) wrong(fmt::format("`{}` must be an integer", key));
    return value.get<std::int64_t>();
  }
  double real(const json& in, const char* key) const {
    const json& value = part(in, key);
    if (!value.is_number()) wrong(fmt::format("`{}` must be a number", key));
    return value.get<double>();
  }
  const json& list(const json& in, const char* key) const {
    const json& value = part(in, key);
    if (!value.is_array()) wrong(fmt::format("`{}` must be an array", key));
    return value;
  }
  std::vector<std::string> texts(const json& in, const char* key) const {
    std::vector<std::string> result;
    for (const json& one : list(in, key)) {
      if (!one.is_string()) wrong(fmt::format("every entry of `{}` must be a string", key));
      result.push_back(one.get<std::string>());
    }
    return result;
  }
  std::vector<ManifestTensor> tensors(const json& in, const char* key) const {
    std::vector<ManifestTensor> result;
    for (const json& one : list(in, key)) {
      auto element = element_type_named(text(one, "element"));
      if (!element) wrong(fmt::format("an entry of `{}` has an unknown element type", key));
      ManifestTensor tensor{text(one, "name"), {*element, {}}, false};
      for (const json& extent : list(one, "shape")) {
        if (!extent.is_number_integer() || extent.get<std::int64_t>() < 0)
          wrong(fmt::format("`{}` has an invalid extent", key));
        tensor.type.shape.push_back(extent.get<std::int64_t>());
      }
      try {
        checked::mul(element_count(tensor.type.shape), static_cast<std::int64_t>(size_of(*element)));
      } catch (const Overflow&) { wrong(fmt::format("`{}` has a tensor of 2^63 bytes or more", key)); }
      const json& constant = part(one, "constant");
      if (!constant.is_boolean()) wrong(fmt::format("in every entry of `{}`, `constant` must be true or false", key));
      tensor.constant = constant.get<bool>();
      result.push_back(std::move(tensor));
    }
    return result;
  }

  AllocationMustSucceed memory_guard_;
  const std::string& path_;
  json all_;
};

}  // namespace

std::string manifest_text(const LibraryFacts& facts) {
  AllocationMustSucceed memory_guard;
  const backend::Schedule& s = *facts.schedule;
  std::int64_t buffers = 0;  // including those in rows
  for (const backend::Buffer& buffer : s.buffers) buffers += ir::count_of(buffer.row);
  ordered_json all = {
      {"format", "tapestry-manifest"},
      {"version", manifest_version},
      {"abi", 1},
      {"program", facts.program},
      {"prefix", facts.prefix},
      {"library", {{"file", facts.file}, {"bytes", facts.library_bytes}, {"sha256", facts.library_hash}}},
      {"target",
       {{"name", facts.target.name},
        {"triple", facts.target.triple},
        {"cpu", facts.target.cpu},
        {"features", facts.features}}},
      {"inputs", tensors(s.inputs)},
      {"outputs", tensors(s.outputs)},
      {"outside_kernels", s.outside},
      {"work", {{"shards", backend::shard_count(s)}, {"operations", facts.work.flops}, {"bytes", facts.work.bytes}}},
      {"plan", facts.plan},
      {"source_sha256", facts.source_hash},
      {"graph_hash", facts.graph_hash},
      {"schedule",
       {{"kernels", s.kernels.size()},
        {"buffers", buffers},
        {"arena_bytes", s.arena_bytes},
        {"scratch_bytes", facts.scratch_bytes}}}};
  return all.dump(2, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace) + "\n";
}

// A source file cannot start like this.
bool is_manifest(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  return at != text.npos && text[at] == '{';
}

Manifest parse_manifest(std::string_view text, const std::string& path) { return ManifestReader(text, path).run(); }

}  // namespace tap::driver
