#include "runtime/tensors/print_tensor.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "support/check.h"

namespace tap {
namespace {

template <class T>
std::string characters(T value) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  TAP_CHECK(error == std::errc{}, "a number did not fit its text");
  return {text, end};
}

// The standard library has no 16-bit floats: the fewest digits that read back as the same value.
std::string shortest_half(double value, ElementType type) {
  for (int digits = 1; digits < 10; ++digits) {
    char text[64];
    auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
    double back = 0;
    std::from_chars(text, end, back);
    if (round_to(back, type) == value) return characters(back);  // 65500 rather than 6.55e+04
  }
  return characters(value);
}

class Printer {
 public:
  Printer(const Tensor& tensor, const PrintOptions& options)
      : tensor_(tensor),
        edge_(tensor.size() > options.most_elements ? std::max<std::int64_t>(options.edge, 1) : tensor.size()),
        strides_(row_major_strides(tensor.shape())) {}

  std::string print() {
    if (tensor_.size() == 0)
      return tensor_.shape().size() == 1 ? "[]" : "[] of the shape " + to_string(tensor_.shape());
    walk(0, 0, [&](std::int64_t at) { width_ = std::max(width_, print_element(tensor_, at).size()); });
    text_.clear();
    walk(0, 0, [&](std::int64_t at) {
      std::string element = print_element(tensor_, at);
      if (!tensor_.shape().empty()) text_.append(width_ - element.size(), ' ');
      text_ += element;
    });
    return std::move(text_);
  }

 private:
  template <class Visit>
  void walk(std::size_t dim, std::int64_t base, Visit visit) {
    if (dim == tensor_.shape().size()) return visit(base);
    std::int64_t extent = tensor_.shape()[dim];
    bool innermost = dim + 1 == tensor_.shape().size();
    text_ += '[';
    for (std::int64_t i = 0; i < extent; ++i) {
      if (i > 0) separate(dim, innermost);
      // Omitting a single element would save nothing.
      if (i == edge_ && extent > 2 * edge_ + 1) {
        text_ += "...";
        i = extent - edge_;
        separate(dim, innermost);
      }
      walk(dim + 1, base + i * strides_[dim], visit);
    }
    text_ += ']';
  }

  // As NumPy does: a line for each row, an empty line between matrices.
  void separate(std::size_t dim, bool innermost) {
    if (innermost) {
      text_ += ", ";
      return;
    }
    text_ += ',';
    text_.append(tensor_.shape().size() - dim - 1, '\n');
    text_.append(dim + 1, ' ');
  }

  const Tensor& tensor_;
  std::int64_t edge_;
  std::vector<std::int64_t> strides_;
  std::size_t width_ = 0;
  std::string text_;
};

}  // namespace

std::string shortest(double value, ElementType type) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = type == ElementType::f64   ? characters(value)
                     : type == ElementType::f32 ? characters(static_cast<float>(value))
                                                : shortest_half(value, type);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string print_element(const Tensor& tensor, std::int64_t at) {
  if (is_float(tensor.type())) return shortest(tensor.load_f64(at), tensor.type());
  if (is_bool(tensor.type())) return tensor.load_i64(at) != 0 ? "true" : "false";
  return characters(tensor.load_i64(at));
}

std::string print_tensor(const Tensor& tensor, const PrintOptions& options) { return Printer(tensor, options).print(); }

}  // namespace tap
