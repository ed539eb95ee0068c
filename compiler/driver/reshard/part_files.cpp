#include "compiler/driver/reshard/part_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "runtime/failure.h"

namespace tap::driver {
namespace {

constexpr std::size_t least_digits = 5;

struct PartName {
  std::string stem, ending;  // before the number, and after it
  std::int64_t number = 0, count = 0;
};

// Reads digits and removes them. At least as many as are written.
std::optional<std::int64_t> eat_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || text.front() == '-' || digits < least_digits) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

// stem-00001-of-00004.ending
std::optional<PartName> part_name(std::string_view name) {
  constexpr std::string_view of = "-of-";
  const std::size_t at = name.rfind(of);
  if (at == name.npos) return std::nullopt;
  const std::size_t dash = name.substr(0, at).rfind('-');
  if (dash == name.npos) return std::nullopt;
  std::string_view number = name.substr(dash + 1, at - dash - 1), rest = name.substr(at + of.size());
  const auto own = eat_number(number), all = eat_number(rest);
  if (!own || !all || !number.empty() || !rest.starts_with('.') || *own < 1 || *own > *all) return std::nullopt;
  return PartName{std::string(name.substr(0, dash)), std::string(rest), *own, *all};
}

}  // namespace

std::string part_file(std::string_view path, std::int64_t number, std::int64_t count) {
  const std::size_t ending = path.rfind('.');
  return fmt::format("{}-{:05}-of-{:05}{}", path.substr(0, ending), number, count, path.substr(ending));
}

std::optional<std::string> whole_of_part(std::string_view path) {
  const auto part = part_name(path);
  return part ? std::optional(part->stem + part->ending) : std::nullopt;
}

std::vector<std::string> find_parts(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == path.npos ? path : path.substr(slash + 1);
  std::map<std::int64_t, std::set<std::int64_t>> sets;  // numbers by the count of the set
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (const auto part = part_name(entry.path().filename().string()); part && part->stem + part->ending == name)
      sets[part->count].insert(part->number);
  if (sets.empty()) return {};
  const std::int64_t count = sets.begin()->first;
  if (sets.size() > 1)
    throw wrong_data(Code::data_missing,
                     fmt::format("there are parts of several sets: {} and {}",
                                 quoted(part_file(path, *sets.begin()->second.begin(), count)),
                                 quoted(part_file(path, *sets.rbegin()->second.begin(), sets.rbegin()->first))),
                     "move the parts of one set to another folder");
  std::vector<std::string> files;
  for (std::int64_t number = 1; number <= count; ++number) {
    files.push_back(part_file(path, number, count));
    if (!sets[count].contains(number))
      throw wrong_data(Code::data_missing, fmt::format("{} is missing: {} of {} parts are there", quoted(files.back()),
                                                       sets[count].size(), count));
  }
  return files;
}

}  // namespace tap::driver
