#include "tests/conformance_driver/kinds.h"

namespace tap::conformance {
namespace {

constexpr Kind all[] = {
    {"propagation", [](const Json& test) { return test.contains("pass"); }, propagation_tap, propagation_failures},
    {"rule", [](const Json& test) { return test.contains("rule"); }, rule_tap, rule_failures},
    {"explicit", [](const Json& test) { return test.contains("ops") && test.contains("expected"); }, explicit_tap,
     explicit_failures},
    {"reshard", [](const Json& test) { return test.contains("src"); }, reshard_tap, reshard_failures},
};

}  // namespace

std::span<const Kind> kinds() { return all; }

}  // namespace tap::conformance
