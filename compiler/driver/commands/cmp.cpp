// tapc cmp A B: compares two tensor files: how much they differ, where, and in how many cells.
//
//   $ tapc cmp got.npy wanted.npy
//   3 of 1024 cells differ, first at [0, 7]: 1.5 and 1.25
//   absolute  0.25 at [0, 7]: 1.5 and 1.25
//   …
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/tolerance_option.h"
#include "compiler/driver/compare.h"
#include "runtime/failure.h"
#include "runtime/tensors/print_tensor.h"
#include "runtime/tensors/tensor_file.h"
#include "support/exit_code.h"
#include "support/memory_failure.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct CmpOptions {
  std::string a, b;
  Tolerance tolerance;
  bool json = false;
};

// The tensors of a file by name; that of a .npy file has none.
std::vector<NamedTensor> load_all(const std::string& path, TensorFiles& files) {
  auto format = format_of(path);
  if (!format)
    throw wrong_command(Code::data_spec, tap::quoted(path) + " is not a tensor file",
                        "its name must end in .npy, .npz or .safetensors");
  if (!is_archive(*format)) return {{"", files.load(path)}};
  std::vector<NamedTensor> all;
  for (const std::string& entry : files.entries(path)) all.push_back({entry, files.load(path, entry)});
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.name < y.name; });
  return all;
}

std::string called(const NamedTensor& tensor) { return tensor.name.empty() ? "the tensor" : tap::quoted(tensor.name); }

std::string type_of(const Tensor& tensor) { return std::string(name_of(tensor.type())) + to_string(tensor.shape()); }

// Pairs of the same name, type and shape. Two files with one tensor each need no names.
std::vector<std::pair<NamedTensor, NamedTensor>> pairs(const CmpOptions& options, TensorFiles& files) {
  std::vector<NamedTensor> a = load_all(options.a, files), b = load_all(options.b, files);
  bool sole = a.size() == 1 && b.size() == 1 && (a[0].name.empty() || b[0].name.empty());
  std::vector<std::pair<NamedTensor, NamedTensor>> found;
  auto missing = [](const NamedTensor& tensor, const std::string& in, const std::string& from) {
    return wrong_data(Code::data_missing, fmt::format("{} contains {}, but {} does not", tap::quoted(in),
                                                      called(tensor), tap::quoted(from)));
  };
  for (const NamedTensor& one : a) {
    auto other = std::find_if(b.begin(), b.end(), [&](const NamedTensor& t) { return sole || t.name == one.name; });
    if (other == b.end()) throw missing(one, options.a, options.b);
    if (one.tensor.type() != other->tensor.type() || one.tensor.shape() != other->tensor.shape())
      throw wrong_data(one.tensor.type() != other->tensor.type() ? Code::data_type : Code::data_shape,
                       fmt::format("{} is {} in {}, but {} in {}", called(one), type_of(one.tensor),
                                   tap::quoted(options.a), type_of(other->tensor), tap::quoted(options.b)));
    found.emplace_back(one, *other);
  }
  for (const NamedTensor& one : b)
    if (!sole && std::none_of(a.begin(), a.end(), [&](const NamedTensor& t) { return t.name == one.name; }))
      throw missing(one, options.b, options.a);
  return found;
}

std::string at(std::int64_t cell, const Tensor& a, const Tensor& b) {
  return fmt::format("at {}: {} and {}", to_string(index_of(cell, a.shape())), print_element(a, cell),
                     print_element(b, cell));
}

std::string describe(const NamedTensor& a, const Tensor& b, const Differences& found) {
  std::string text = a.name.empty() ? "" : a.name + ": ";
  if (found.unequal == 0) return text + fmt::format("all of {} cells are equal\n", a.tensor.size());
  text += fmt::format("{} of {} cells differ, {} of them beyond the tolerance; first {}\n", found.unequal,
                      a.tensor.size(), found.outside, at(found.first, a.tensor, b));
  auto line = [&](const char* what, const Greatest& greatest) {
    if (greatest.by > 0) text += fmt::format("  {}  {:.6g} {}\n", what, greatest.by, at(greatest.cell, a.tensor, b));
  };
  line("absolute", found.absolute);
  line("relative", found.relative);
  line("in ulp  ", found.ulp);
  if (found.not_numbers > 0)
    text += fmt::format("  {} cells are NaN or infinite in one file only\n", found.not_numbers);
  return text;
}

nlohmann::ordered_json as_json(const NamedTensor& a, const Tensor& b, const Differences& found) {
  auto greatest = [&](const Greatest& one) -> nlohmann::ordered_json {
    if (!(one.by > 0)) return nullptr;
    return {{"by", one.by}, {"at", index_of(one.cell, b.shape())}};
  };
  return {{"name", a.name},
          {"type", name_of(b.type())},
          {"shape", b.shape()},
          {"cells", b.size()},
          {"differ", found.unequal},
          {"outside", found.outside},
          {"not_comparable", found.not_numbers},
          {"nan_in_both", found.both_nan},
          {"first", found.unequal ? nlohmann::ordered_json(index_of(found.first, b.shape())) : nullptr},
          {"absolute", greatest(found.absolute)},
          {"relative", greatest(found.relative)},
          {"ulp", greatest(found.ulp)}};
}

int cmp(Session& session, const CmpOptions& options) {
  Phase phase("comparing files");
  TensorFiles files;
  std::string text;
  AllocationMustSucceed memory_guard;
  auto list = nlohmann::ordered_json::array();
  bool good = true;
  for (const auto& [a, b] : pairs(options, files)) {
    Differences found = differences(a.tensor, b.tensor, options.tolerance);
    good = good && found.outside == 0;
    text += describe(a, b.tensor, found);
    list.push_back(as_json(a, b.tensor, found));
  }
  files.require_intact();
  if (options.json)
    text =
        nlohmann::ordered_json({{"format", "tap-cmp"}, {"version", 1}, {"within_tolerance", good}, {"tensors", list}})
            .dump(1) +
        "\n";
  session.print(text);
  return good ? exit_code::done : exit_code::check_failed;
}

}  // namespace

Action declare_cmp(CLI::App& app) {
  auto options = std::make_shared<CmpOptions>();
  app.add_option("A", options->a, "The tensor file to compare: .npy, .npz or .safetensors")->required();
  app.add_option("B", options->b, "The tensor file to compare with")->required();
  add_tolerance_options(app, options->tolerance, "", "0", "0");
  app.add_flag("--json", options->json, "Print JSON (docs/schema/cmp.schema.json)");
  return [options](Session& session) {
    // By default, files are compared exactly, unlike expected results.
    if (!options->tolerance.relative) options->tolerance.relative = 0;
    if (!options->tolerance.absolute) options->tolerance.absolute = 0;
    return cmp(session, *options);
  };
}

}  // namespace tap::driver
