#include "compiler/driver/commands/report_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "backend/loops/loops_text.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_lines = 3000;  // of the text of one kernel

std::string shortened_lines(std::string_view text) {
  std::size_t at = 0;
  for (std::size_t line = 0; line < most_lines; ++line) {
    at = text.find('\n', at);
    if (at == text.npos) return std::string(text);
    ++at;
  }
  const auto left = std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n');
  return left == 0 ? std::string(text) : fmt::format("{}… and {} more lines\n", text.substr(0, at), left);
}

// From the kernel's label to the end of its function.
std::string_view assembly_of(std::string_view all, std::size_t kernel) {
  const std::size_t begin = all.find(fmt::format("\nk_{:04}:", kernel + 1));
  if (begin == all.npos) return "";
  const std::size_t end = all.find("\n.Lfunc_end", begin);
  return all.substr(begin + 1, end == all.npos ? end : end - begin);
}

}  // namespace

ordered_json report_kernels(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels,
                            std::string_view assembly) {
  std::vector<std::vector<std::string>> values(kernels.size());
  for (const ir::Sequence& sequence : schedule.sequences)
    for (const ir::Batch& batch : sequence)
      for (const ir::ScheduledTask& task : batch)
        if (const auto* call = std::get_if<ir::KernelCall>(&task.what)) {
          std::vector<std::string>& of = values[call->kernel];
          const std::string& result = schedule.operations[call->operations].result;
          if (std::find(of.begin(), of.end(), result) == of.end()) of.push_back(result);
        }
  ordered_json out = ordered_json::array();
  for (std::size_t k = 0; k < kernels.size(); ++k)
    out.push_back({{"values", values[k]},
                   {"packs", k < schedule.kernels.size() && schedule.kernels[k].packs.has_value()},
                   {"loops", shortened_lines(backend::print({kernels[k]}))},
                   {"assembly", shortened_lines(assembly_of(assembly, k))}});
  return out;
}

}  // namespace tap::driver
