#include "compiler/frontend/builtins.h"

#include <algorithm>
#include <array>
#include <string>

namespace tap {
namespace {

using ir::CellOp;

constexpr std::array functions{
    BuiltinFunction{"exp", CellOp::exp, 1, FunctionClass::float_only},
    BuiltinFunction{"log", CellOp::log, 1, FunctionClass::float_only},
    BuiltinFunction{"log1p", CellOp::log1p, 1, FunctionClass::float_only},
    BuiltinFunction{"expm1", CellOp::expm1, 1, FunctionClass::float_only},
    BuiltinFunction{"sqrt", CellOp::sqrt, 1, FunctionClass::float_only},
    BuiltinFunction{"rsqrt", CellOp::rsqrt, 1, FunctionClass::float_only},
    BuiltinFunction{"floor", CellOp::floor, 1, FunctionClass::float_only},
    BuiltinFunction{"ceil", CellOp::ceil, 1, FunctionClass::float_only},
    BuiltinFunction{"round", CellOp::round, 1, FunctionClass::float_only},
    BuiltinFunction{"sin", CellOp::sin, 1, FunctionClass::float_only},
    BuiltinFunction{"cos", CellOp::cos, 1, FunctionClass::float_only},
    BuiltinFunction{"tan", CellOp::tan, 1, FunctionClass::float_only},
    BuiltinFunction{"asin", CellOp::asin, 1, FunctionClass::float_only},
    BuiltinFunction{"acos", CellOp::acos, 1, FunctionClass::float_only},
    BuiltinFunction{"atan", CellOp::atan, 1, FunctionClass::float_only},
    BuiltinFunction{"sinh", CellOp::sinh, 1, FunctionClass::float_only},
    BuiltinFunction{"cosh", CellOp::cosh, 1, FunctionClass::float_only},
    BuiltinFunction{"tanh", CellOp::tanh, 1, FunctionClass::float_only},
    BuiltinFunction{"asinh", CellOp::asinh, 1, FunctionClass::float_only},
    BuiltinFunction{"acosh", CellOp::acosh, 1, FunctionClass::float_only},
    BuiltinFunction{"atanh", CellOp::atanh, 1, FunctionClass::float_only},
    BuiltinFunction{"erf", CellOp::erf, 1, FunctionClass::float_only},
    BuiltinFunction{"sigmoid", CellOp::sigmoid, 1, FunctionClass::float_only},
    BuiltinFunction{"pow", CellOp::pow, 2, FunctionClass::float_only},
    BuiltinFunction{"abs", CellOp::abs, 1, FunctionClass::number},
    BuiltinFunction{"sign", CellOp::sign, 1, FunctionClass::number},
    BuiltinFunction{"min", CellOp::min, 2, FunctionClass::number},
    BuiltinFunction{"max", CellOp::max, 2, FunctionClass::number},
    BuiltinFunction{"isnan", CellOp::isnan, 1, FunctionClass::float_to_bool},
    BuiltinFunction{"isinf", CellOp::isinf, 1, FunctionClass::float_to_bool},
    BuiltinFunction{"bitand", CellOp::bitand_, 2, FunctionClass::integer_only},
    BuiltinFunction{"bitor", CellOp::bitor_, 2, FunctionClass::integer_only},
    BuiltinFunction{"bitxor", CellOp::bitxor_, 2, FunctionClass::integer_only},
    BuiltinFunction{"bitnot", CellOp::bitnot, 1, FunctionClass::integer_only},
    BuiltinFunction{"shl", CellOp::shl, 2, FunctionClass::integer_only},
    BuiltinFunction{"shr", CellOp::shr, 2, FunctionClass::integer_only},
};
constexpr std::array<std::string_view, 6> reductions{"sum", "prod", "max", "min", "any", "all"};
constexpr std::array<std::string_view, 11> keywords{"if",  "then", "else",  "and", "or", "not",
                                                    "let", "true", "false", "inf", "nan"};

template <class Array>
bool contains(const Array& array, std::string_view name) {
  return std::find(array.begin(), array.end(), name) != array.end();
}

}  // namespace

const BuiltinFunction* builtin_function(std::string_view name) {
  for (const auto& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

bool is_builtin_reduction(std::string_view name) { return contains(reductions, name); }

bool is_reserved(std::string_view name) {
  return builtin_function(name) || is_builtin_reduction(name) || contains(keywords, name) || element_type_named(name);
}

std::vector<std::string> builtin_function_names() {
  std::vector<std::string> names;
  for (const auto& f : functions) names.emplace_back(f.name);
  return names;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < element_type_count; ++i) names.emplace_back(name_of(static_cast<ElementType>(i)));
  return names;
}

}  // namespace tap
