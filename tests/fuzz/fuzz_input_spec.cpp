// Specifications of inputs and outputs. A literal that is accepted must print as a text that reads back as itself.
#include "runtime/tensors/input_spec.h"

#include "round_trip.h"
#include "runtime/tensors/output_spec.h"
#include "runtime/tensors/print_tensor.h"

namespace {

using namespace tap;

void check_literal(const InputSpec& spec, ElementType type) {
  TensorFiles none;
  try {
    Tensor tensor = materialise(spec, type, std::nullopt, none);
    if (tensor.size() == 0) return;  // prints as a sentence
    std::string printed = print_tensor(tensor, {.most_elements = 1 << 30});
    fuzz::require_equal(tensor, materialise(parse_input_spec(spec.name + "=" + printed), type, std::nullopt, none));
  } catch (const Failure& failure) { fuzz::require(failure.exit_code != 0); }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    parse_output_spec(text);
  } catch (const Failure& failure) { fuzz::require(failure.exit_code == 2); }
  try {
    InputSpec spec = parse_input_spec(text);
    if (!std::holds_alternative<Literal>(spec.value)) return 0;
    for (std::size_t i = 0; i < element_type_count; ++i) check_literal(spec, static_cast<ElementType>(i));
  } catch (const Failure& failure) { fuzz::require(failure.exit_code == 2); }
  return 0;
}
