#include "tests/conformance_driver/convolution_text.h"

#include <fmt/format.h>

#include <cstdlib>

#include "tests/conformance_driver/kinds.h"

namespace tap::conformance {
namespace {

// The words of the next [ … ].
std::vector<std::string> words(const std::string& text, std::size_t& at) {
  std::size_t open = text.find('[', at), close = text.find(']', at);
  if (open == std::string::npos || close == std::string::npos) throw Untranslatable{"a convolution has no dim_numbers"};
  std::vector<std::string> list{""};
  for (char c : text.substr(open + 1, close - open - 1)) {
    if (c == ',') list.emplace_back();
    else if (c != ' ') list.back() += c;
  }
  at = close + 1;
  return list;
}

struct Layout {
  std::vector<std::string> input, kernel, output;
};

Layout layout_of(const std::string& text) {
  std::size_t at = text.find("dim_numbers");
  if (at == std::string::npos) at = 0;
  Layout layout;
  layout.input = words(text, at);
  layout.kernel = words(text, at);
  layout.output = words(text, at);
  return layout;
}

// pad = [[0, 1], [2, 1]]: the lower ones, by space.
std::vector<std::int64_t> low_padding(const std::string& text, std::size_t spaces) {
  std::vector<std::int64_t> low(spaces);
  std::size_t at = text.find("pad = [");
  if (at == std::string::npos) return low;
  at += 6;
  for (std::size_t s = 0; s < spaces; ++s) {
    at = text.find('[', at + 1);
    low[s] = std::strtoll(text.c_str() + at + 1, nullptr, 10);
  }
  return low;
}

std::string spaced(std::int64_t factor, const std::string& name) {
  return factor == 1 ? name : fmt::format("{}*{}", factor, name);
}

// A group of channels or batches: 16*g + c. Without groups just c.
std::string grouped(std::int64_t groups, std::int64_t each, const std::string& name) {
  if (groups == 1) return name;
  return each == 1 ? "g" : fmt::format("{}*g + {}", each, name);
}

}  // namespace

void write_convolution(const CaseOp& op, TapLines& lines) {
  const TensorValue &x = op.operands.at(0), &w = op.operands.at(1), &y = op.results.at(0);
  const std::string& text = op.attributes.text();
  Layout layout = layout_of(text);
  std::int64_t features = op.attributes.integer("feature_group_count", 1);
  std::int64_t batches = op.attributes.integer("batch_group_count", 1);
  if (x.shape.size() < 2) throw Untranslatable{"a convolution of less than two axes"};
  std::size_t spaces = x.shape.size() - 2;
  if (features < 1 || batches < 1) throw Malformed{"a convolution has less than one group"};
  std::vector<std::int64_t> stride = op.attributes.integers("stride"), low = low_padding(text, spaces);
  std::vector<std::int64_t> dilation = op.attributes.integers("rhs_dilate");
  stride.resize(spaces, 1);
  dilation.resize(spaces, 1);
  auto size_at = [](const TensorValue& t, const std::vector<std::string>& axes, const std::string& word) {
    for (std::size_t a = 0; a < axes.size(); ++a)
      if (axes[a] == word) return t.shape.at(a);
    throw Untranslatable{"a convolution's layout has no " + word};
  };
  std::int64_t channels = size_at(w, layout.kernel, "i"), out = size_at(y, layout.output, "f");
  std::int64_t groups = features * batches, batch = size_at(y, layout.output, "b");
  std::vector<std::string> read, weight, written, ranges, reduced;
  for (const std::string& word : layout.input) {
    if (word == "b") read.push_back(grouped(batches, batch, "b"));
    else if (word == "f") read.push_back(grouped(features, channels, "c"));
    else {
      std::size_t s = std::stoul(word);
      std::string index = fmt::format("{} + {}", spaced(stride.at(s), "p" + word), spaced(dilation.at(s), "u" + word));
      read.push_back(low.at(s) == 0 ? index
                                    : fmt::format("{} {} {}", index, low.at(s) < 0 ? '+' : '-', std::abs(low.at(s))));
    }
  }
  for (const std::string& word : layout.kernel)
    weight.push_back(word == "i" ? "c" : word == "o" ? grouped(groups, out / groups, "o") : "u" + word);
  for (std::size_t a = 0; a < layout.output.size(); ++a) {
    const std::string& word = layout.output[a];
    written.push_back(word == "b" ? "b" : word == "f" ? grouped(groups, out / groups, "o") : "p" + word);
    if (word == "f") {
      if (groups > 1) ranges.push_back(fmt::format("g in 0..{}", groups));
      if (groups == 1 || out / groups > 1) ranges.push_back(fmt::format("o in 0..{}", out / groups));
    } else ranges.push_back(fmt::format("{} in 0..{}", written.back(), y.shape.at(a)));
  }
  for (std::size_t s = 0; s < spaces; ++s)
    reduced.push_back(fmt::format("u{} in 0..{}", s, size_at(w, layout.kernel, std::to_string(s))));
  reduced.push_back(fmt::format("c in 0..{}", channels));
  read.back() += " else 0";
  lines.body.push_back(fmt::format("{} = sum[{}] {} * {} for {}", cell(y.name, written), fmt::join(reduced, ", "),
                                   cell(x.name, read), cell(w.name, weight), fmt::join(ranges, ", ")));
}

}  // namespace tap::conformance
