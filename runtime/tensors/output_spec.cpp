#include "runtime/tensors/output_spec.h"

#include <algorithm>

#include "runtime/failure.h"
#include "runtime/tensors/npy.h"
#include "runtime/tensors/spec_text.h"

namespace tap {
namespace {

Failure wrong_output(std::string_view spec, const std::string& why) {
  return wrong_command(Code::output_spec, quoted(spec) + " is not a valid output: " + why,
                       "write Y=@y.npy, @all.npz, @all.safetensors or Y=-");
}

// The results that a spec mentions.
template <class Result>
std::vector<const Result*> chosen(const OutputSpec& spec, const std::vector<Result>& results) {
  std::vector<const Result*> all;
  for (const Result& result : results) {
    if (spec.name.empty() || spec.name == result.name) all.push_back(&result);
  }
  return all;
}

void require_results(const OutputSpec& spec, const std::vector<DeclaredOutput>& declared) {
  if (spec.name.empty() || !chosen(spec, declared).empty()) return;
  std::string names;
  for (const DeclaredOutput& d : declared) names += (names.empty() ? "" : ", ") + quoted(d.name);
  throw wrong_command(Code::output_spec,
                      quoted(spec.name) + ", in " + quoted(spec.text) + ", is not a result of the program",
                      "its results are " + names);
}

void require_types(const OutputSpec& spec, const std::vector<DeclaredOutput>& declared) {
  if (*format_of(spec.path) == FileFormat::safetensors) return;
  for (const DeclaredOutput* output : chosen(spec, declared)) {
    if (npy_can_hold(output->type)) continue;
    throw wrong_command(Code::data_type,
                        quoted(spec.path) + " cannot hold the result " + quoted(output->name) + ": NumPy has no " +
                            std::string(name_of(output->type)),
                        "write " + output->name + "=@" + output->name + ".safetensors");
  }
}

// Also for files that do not exist yet: the same name in one folder.
bool will_be_same_file(const std::string& a, const std::string& b) {
  if (same_file(a, b)) return true;
  auto split = [](const std::string& path) {
    std::size_t slash = path.rfind('/');
    if (slash == path.npos) return std::pair(std::string("."), path);
    return std::pair(path.substr(0, slash + 1), path.substr(slash + 1));
  };
  auto [folder, name] = split(a);
  auto [other_folder, other_name] = split(b);
  return name == other_name && same_file(folder, other_folder);
}

void require_once(const OutputSpec& spec, const OutputSpec& earlier, const std::vector<DeclaredOutput>& declared) {
  bool same = spec.path == earlier.path || will_be_same_file(spec.path, earlier.path);
  if (!same) return;
  if (spec.path != earlier.path) {
    throw wrong_command(Code::output_spec, quoted(spec.path) + " and " + quoted(earlier.path) +
                                               " are the same file, given for two outputs");
  }
  if (!is_archive(*format_of(spec.path))) {
    throw wrong_command(Code::output_spec,
                        quoted(spec.path) + " is given for two outputs, and a .npy file holds one tensor",
                        "an .npz or .safetensors file holds several");
  }
  for (const DeclaredOutput* output : chosen(spec, declared)) {
    if (!earlier.name.empty() && earlier.name != output->name) continue;
    throw wrong_command(Code::output_spec,
                        "the result " + quoted(output->name) + " is written into " + quoted(spec.path) + " twice");
  }
}

}  // namespace

OutputSpec parse_output_spec(std::string_view text) {
  std::string_view value = trimmed(text);
  OutputSpec spec{std::string(text), "", ""};
  std::size_t equals = value.find('=');
  if (!value.starts_with('@') && value != "-") {
    if (equals == value.npos) throw wrong_output(text, "expected a name and `=`");
    spec.name = trimmed(value.substr(0, equals));
    if (!is_identifier(spec.name)) throw wrong_output(text, quoted(spec.name) + " is not the name of a result");
    value = trimmed(value.substr(equals + 1));
  }
  if (value == "-") return spec;
  if (!value.starts_with('@')) throw wrong_output(text, "expected `@` and a file name, or `-`");
  spec.path = value.substr(1);
  auto format = format_of(spec.path);
  if (!format)
    throw wrong_output(text,
                       "the name of the file " + quoted(spec.path) + " does not end in .npy, .npz or .safetensors");
  if (spec.path.find('\0') != spec.path.npos) throw wrong_output(text, "the file name contains a NUL byte");
  if (spec.name.empty() && !is_archive(*format)) throw wrong_output(text, "the name of the result is missing");
  return spec;
}

void check_outputs(const std::vector<OutputSpec>& specs, const std::vector<DeclaredOutput>& declared,
                   const std::vector<std::string>& input_paths) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const OutputSpec& spec = specs[i];
    require_results(spec, declared);
    if (spec.path.empty()) continue;
    require_types(spec, declared);
    for (std::size_t k = 0; k < i; ++k) {
      if (!specs[k].path.empty()) require_once(spec, specs[k], declared);
    }
    for (const std::string& input : input_paths) {
      if (!same_file(spec.path, input)) continue;
      throw wrong_data(
          Code::data_aliases,
          quoted(spec.path) + ", in " + quoted(spec.text) + ", is the same file as the input " + quoted(input),
          "write to another file");
    }
  }
}

PlannedOutputs plan_outputs(const std::vector<OutputSpec>& specs, const std::vector<NamedTensor>& results) {
  PlannedOutputs plan;
  std::vector<std::string> paths;
  for (const OutputSpec& spec : specs) {
    if (spec.path.empty()) {
      for (const NamedTensor* result : chosen(spec, results)) plan.printed.push_back(*result);
    } else if (std::find(paths.begin(), paths.end(), spec.path) == paths.end()) {
      paths.push_back(spec.path);
    }
  }
  for (const std::string& path : paths) {
    std::vector<NamedTensor> inside;
    for (const OutputSpec& spec : specs) {
      if (spec.path != path) continue;
      for (const NamedTensor* result : chosen(spec, results)) inside.push_back(*result);
    }
    switch (*format_of(path)) {
      case FileFormat::npy: {
        const Tensor& tensor = inside.at(0).tensor;
        plan.files.push_back({path, {npy_header(tensor.type(), tensor.shape()), tensor}});
        break;
      }
      case FileFormat::npz: plan.files.push_back({path, encode_npz(inside)}); break;
      case FileFormat::safetensors: plan.files.push_back({path, encode_safetensors(inside)}); break;
    }
  }
  return plan;
}

}  // namespace tap
