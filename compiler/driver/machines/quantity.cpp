#include "compiler/driver/machines/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>

namespace tap::driver {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};
constexpr double ki = 1024;
constexpr Suffix sizes[] = {{"", 1},
                            {"B", 1},
                            {"K", ki},
                            {"KiB", ki},
                            {"M", ki* ki},
                            {"MiB", ki* ki},
                            {"G", ki* ki* ki},
                            {"GiB", ki* ki* ki},
                            {"TiB", ki* ki* ki* ki}};
constexpr Suffix bandwidths[] = {
    {"", 1},        {"B/s", 1},    {"KB/s", 1e3},     {"MB/s", 1e6},         {"GB/s", 1e9},
    {"TB/s", 1e12}, {"KiB/s", ki}, {"MiB/s", ki* ki}, {"GiB/s", ki* ki* ki}, {"Gbit/s", 125e6}};
constexpr Suffix times[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}};
constexpr Suffix rates[] = {{"", 1}, {"/s", 1}, {"k/s", 1e3}, {"M/s", 1e6}, {"G/s", 1e9}, {"T/s", 1e12}};
constexpr Suffix plain[] = {{"", 1}};

std::span<const Suffix> suffixes(Unit unit) {
  switch (unit) {
    case Unit::size: return sizes;
    case Unit::bandwidth: return bandwidths;
    case Unit::time: return times;
    case Unit::rate: return rates;
    case Unit::count:
    case Unit::share:
    case Unit::number: return plain;
  }
  return plain;
}

}  // namespace

const UnitInfo& info(Unit unit) {
  static constexpr UnitInfo all[] = {
      {"an integer", "write an integer, such as 16"},
      {"a size", "write a number of bytes, or a string such as \"48 KiB\" or \"2 MiB\""},
      {"a bandwidth", "write bytes per second, or a string such as \"25 GB/s\""},
      {"a time", "write seconds, or a string such as \"1.5 us\""},
      {"a rate", "write a number per second, or a string such as \"90 G/s\""},
      {"a number", "write a number from 0 to 1, such as 0.7"},
      {"a number", "write a number: 2.5"},
  };
  return all[static_cast<std::size_t>(unit)];
}

std::optional<double> read_quantity(std::string_view text, Unit unit) {
  double number = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return {};
  std::string_view rest(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  for (const Suffix& suffix : suffixes(unit)) {
    if (suffix.text != rest) continue;
    const double value = number * suffix.factor;
    if (unit == Unit::size && (value != std::floor(value) || std::abs(value) > 0x1p62)) return {};
    return value;
  }
  return {};
}

std::string shown(double value, Unit unit) {
  if (unit == Unit::size) {
    for (auto [name, factor] : {Suffix{"TiB", ki * ki * ki * ki}, {"GiB", ki * ki * ki}, {"KiB", ki}})
      if (value >= factor) return fmt::format("{} {}", value / factor, name);
    return fmt::format("{} bytes", value);
  }
  if (unit == Unit::bandwidth) return fmt::format("{:g} B/s", value);
  if (unit == Unit::time) return fmt::format("{:g} s", value);
  if (unit == Unit::rate) return fmt::format("{:g}/s", value);
  return fmt::format("{}", value);
}

}  // namespace tap::driver
