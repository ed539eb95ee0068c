#include "compiler/frontend/elaborate/foreign_types.h"

#include <string_view>

#include "compiler/frontend/syntax/builtins.h"
#include "support/quoted.h"

namespace tap {
namespace {

struct ForeignType {
  std::string_view theirs, ours, why;  // why: the reason, if `ours` is a different type or empty
};
constexpr std::string_view unsigned32 = "the only unsigned type is `u8`; `i64` holds every 32-bit unsigned value";
constexpr std::string_view unsigned16 = "the only unsigned type is `u8`; `i32` holds every 16-bit unsigned value";
constexpr std::string_view unsigned64 =
    "the only unsigned type is `u8`; `i64` wraps around like an unsigned type in sums and products, but compares and "
    "divides as signed";
constexpr std::string_view complex =
    "there are no complex types; keep the real and imaginary parts in two tensors, as examples/fft.tap does";
constexpr std::string_view small_float = "the smallest float types are `f16` and `bf16`";
constexpr ForeignType foreign_types[] = {{"float64", "f64", ""},
                                         {"double", "f64", ""},
                                         {"float32", "f32", ""},
                                         {"float", "f32", ""},
                                         {"single", "f32", ""},
                                         {"float16", "f16", ""},
                                         {"half", "f16", ""},
                                         {"bfloat16", "bf16", ""},
                                         {"int64", "i64", ""},
                                         {"long", "i64", ""},
                                         {"int32", "i32", ""},
                                         {"int", "i32", ""},
                                         {"int16", "i16", ""},
                                         {"short", "i16", ""},
                                         {"int8", "i8", ""},
                                         {"uint8", "u8", ""},
                                         {"byte", "u8", ""},
                                         {"char", "u8", ""},
                                         {"boolean", "bool", ""},
                                         {"u16", "i32", unsigned16},
                                         {"uint16", "i32", unsigned16},
                                         {"u32", "i64", unsigned32},
                                         {"uint32", "i64", unsigned32},
                                         {"uint", "i64", unsigned32},
                                         {"u64", "i64", unsigned64},
                                         {"uint64", "i64", unsigned64},
                                         {"size_t", "i64", unsigned64},
                                         {"c64", "", complex},
                                         {"c128", "", complex},
                                         {"complex64", "", complex},
                                         {"complex128", "", complex},
                                         {"complex", "", complex},
                                         {"f8", "", small_float},
                                         {"fp8", "", small_float},
                                         {"float8", "", small_float}};

}  // namespace

bool offer_foreign_type(Diagnostic& d, const std::string& name, Span span) {
  for (const ForeignType& type : foreign_types) {
    if (name != type.theirs) continue;
    if (type.why.empty()) d.help("did you mean " + quoted(std::string(type.ours)) + "?");
    else d.help(std::string(type.why));
    if (!type.ours.empty()) d.fix(span, std::string(type.ours));
    return true;
  }
  return false;
}

void offer_type(Diagnostic& d, const std::string& name, Span span) {
  if (offer_foreign_type(d, name, span)) return;
  if (auto near = did_you_mean(name, type_names())) d.help("did you mean " + quoted(*near) + "?").fix(span, *near);
}

}  // namespace tap
