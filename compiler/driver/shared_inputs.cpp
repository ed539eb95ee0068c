#include "compiler/driver/shared_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"
#include "compiler/driver/runnable.h"
#include "ir/graph.h"
#include "support/memory_failure.h"

namespace tap::driver {
namespace {

using backend::HeldPart;

std::string described(const std::vector<InputSpec>& specs, TensorFiles& files) {
  AllocationMustSucceed memory_guard;
  nlohmann::json all = nlohmann::json::array();
  for (const InputSpec& spec : specs) {
    nlohmann::json one = {{"text", spec.text}, {"name", spec.name}};
    if (std::holds_alternative<FileValue>(spec.value)) {
      const TypedShape file = type_in_file(spec, files);
      one["type"] = name_of(file.type);
      one["shape"] = file.shape;
    }
    all.push_back(std::move(one));
  }
  return all.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::vector<InputSpec> specs_of(const std::string& text, const char* role) {
  AllocationMustSucceed memory_guard;
  std::vector<InputSpec> specs;
  for (const nlohmann::json& one : nlohmann::json::parse(text)) {
    InputSpec spec = parse_input_spec(one["text"].get<std::string>());
    spec.role = role;
    spec.name = one["name"].get<std::string>();
    if (one.contains("type")) {
      spec.own = TypedShape{*element_type_named(one["type"].get<std::string>()), one["shape"].get<Shape>()};
      spec.value = Maker{Maker::Kind::zeros};
      spec.elsewhere = true;
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

// What another process asks for: the input and the bounds of the box. Nothing: it has all.
std::string request(const HeldPart& part) {
  std::string text = std::to_string(part.tensor);
  for (const ir::Range& range : part.box.dims) text += fmt::format(" {} {}", range.lo, range.hi);
  return text;
}
HeldPart requested(const std::string& text) {
  std::istringstream words(text);
  HeldPart part;
  words >> part.tensor;
  for (ir::Range range; words >> range.lo >> range.hi;) part.box.dims.push_back(range);
  return part;
}

}  // namespace

std::vector<InputSpec> specs_of_first(const MpiHost& host, const std::vector<std::string>& texts, const char* role,
                                      TensorFiles& files) {
  const ProcessMessages messages(host);
  if (!host.is_first()) return specs_of(messages.receive_text(0), role);
  std::vector<InputSpec> specs = parse_inputs(texts, role, files);
  const std::string text = described(specs, files);
  for (std::int64_t process = 1; process < host.size(); ++process) messages.send_text(process, text);
  return specs;
}

std::vector<Tensor> read_parts(const Session& session, const Runnable& runnable, const std::vector<HeldPart>& parts,
                               TensorFiles& files, const MpiHost* host) {
  std::vector<Tensor> cells;
  auto is_elsewhere = [&](const HeldPart& part) { return runnable.input_specs[part.tensor].elsewhere; };
  for (const HeldPart& part : parts) {
    if (!is_elsewhere(part)) {
      cells.push_back(part_of_input(session, runnable, part.tensor, part.box, files));
      continue;
    }
    const ProcessMessages messages(*host);
    const ir::Program& program = runnable.compiled.program;
    const ir::Graph& graph = program[program.main];
    messages.send_text(0, request(part));
    Tensor& made = cells.emplace_back(graph[graph.inputs[part.tensor]].type.element, part.box.shape());
    messages.receive(0, {made.mutable_data(), made.byte_size()});
  }
  if (!host) return cells;
  const ProcessMessages messages(*host);
  if (!host->is_first()) messages.send_text(0, "");
  for (std::int64_t process = 1; process < host->size() && host->is_first(); ++process)
    for (std::string text = messages.receive_text(process); !text.empty(); text = messages.receive_text(process)) {
      const HeldPart part = requested(text);
      const Tensor its = part_of_input(session, runnable, part.tensor, part.box, files);
      messages.send(process, {its.data(), its.byte_size()});
    }
  return cells;
}

}  // namespace tap::driver
