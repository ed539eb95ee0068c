#include "compiler/driver/commands/report_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
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

std::vector<std::uint32_t> shortened_numbers(std::vector<std::uint32_t> by_line) {
  by_line.resize(std::min(by_line.size(), most_lines));
  return by_line;
}

// From the kernel's label to the end of its function.
std::string_view assembly_of(std::string_view all, std::size_t kernel) {
  const std::size_t begin = all.find(fmt::format("\nk_{:04}:", kernel + 1));
  if (begin == all.npos) return "";
  const std::size_t end = all.find("\n.Lfunc_end", begin);
  return all.substr(begin + 1, end == all.npos ? end : end - begin);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// What only code with line numbers has.
bool is_about_lines(std::string_view line) {
  for (std::string_view word : {"\t.loc\t", "\t.file\t", "\t.cfi_", ".Ltmp", ".Lfunc_begin"})
    if (line.starts_with(word)) return true;
  return false;
}

// Without what the choice of registers decides: their names, places on the stack, numbers of labels.
std::string shape_of(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size() && line[at] != '#';) {
    const bool is_register = line[at] == '%', is_label = line.substr(at).starts_with("LBB");
    if (line.substr(at).starts_with("(%"))
      while (!out.empty() && (std::isdigit(static_cast<unsigned char>(out.back())) || out.back() == '-'))
        out.pop_back();
    out += line[at++];
    if (is_register || is_label)
      while (at < line.size() && (std::isalnum(static_cast<unsigned char>(line[at])) || (is_label && line[at] == '_')))
        ++at;
  }
  return out;
}

// For each of `a`, the number of the line of `b` that corresponds to it in a longest common subsequence.
std::vector<std::optional<std::size_t>> aligned(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::uint16_t> longest((a.size() + 1) * width);  // of what is left of both
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      longest[i * width + j] = a[i] == b[j] ? static_cast<std::uint16_t>(longest[(i + 1) * width + j + 1] + 1)
                                            : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  std::vector<std::optional<std::size_t>> found(a.size());
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) found[i++] = j++;
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) ++i;
    else ++j;
  }
  return found;
}

// By line of the assembly, the statement that it comes from; 0: none. LLVM may order a few instructions and choose registers
// otherwise in code with line numbers, so that lines correspond by their shapes.
std::vector<std::uint32_t> statements_of(std::string_view assembly, std::string_view located) {
  std::vector<std::string> own, other;
  for (std::string_view line : lines_of(assembly))
    if (own.size() < most_lines) own.push_back(shape_of(line));
  std::vector<std::uint32_t> numbers;  // by line of `other`
  std::uint32_t statement = 0;
  for (std::string_view line : lines_of(located)) {
    if (line.starts_with("\t.loc\t")) {
      const std::size_t number = line.find(' ') + 1;
      std::from_chars(line.data() + number, line.data() + line.size(), statement);
    }
    if (is_about_lines(line) || other.size() == most_lines) continue;
    other.push_back(shape_of(line));
    const bool is_instruction = line.starts_with('\t') && !line.starts_with("\t.") && !line.starts_with("\t#");
    numbers.push_back(is_instruction ? statement : 0);
  }
  std::vector<std::uint32_t> statements;
  for (const std::optional<std::size_t>& line : aligned(own, other)) statements.push_back(line ? numbers[*line] : 0);
  return statements;
}

}  // namespace

ordered_json report_kernels(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels,
                            const backend::LibraryText& code) {
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
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const backend::KernelText loops = backend::print_with_statements(kernels[k]);
    const std::string_view assembly = assembly_of(code.assembly, k);
    const std::vector<std::uint32_t> from = statements_of(assembly, assembly_of(code.located, k));
    out.push_back({{"values", values[k]},
                   {"packs", k < schedule.kernels.size() && schedule.kernels[k].packs.has_value()},
                   {"loops", shortened_lines(loops.text)},
                   {"loop_statements", shortened_numbers(loops.statements)},
                   {"assembly", shortened_lines(assembly)},
                   {"assembly_statements", shortened_numbers(from)}});
  }
  return out;
}

}  // namespace tap::driver
