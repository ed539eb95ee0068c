#include "cost/work/phases.h"

#include <algorithm>

namespace tap::cost {

using namespace backend;

namespace {

const std::vector<Statement>* body_with_loops(const Statement& statement) {
  auto* loop = std::get_if<For>(&statement.node);
  if (loop) return loop->kind == LoopKind::serial || has_serial_loop(loop->body) ? &loop->body : nullptr;
  auto* guard = std::get_if<Guard>(&statement.node);
  auto* section = std::get_if<Section>(&statement.node);
  const std::vector<Statement>* body = guard ? &guard->body : section ? &section->body : nullptr;
  return body && has_serial_loop(*body) ? body : nullptr;
}

}  // namespace

bool has_serial_loop(const std::vector<Statement>& body) {
  return std::ranges::any_of(body, [](const Statement& s) { return body_with_loops(s) != nullptr; });
}

const std::vector<Statement>* phases_of(const Kernel& kernel) {
  for (const std::vector<Statement>* body = &kernel.body;;) {
    const std::vector<Statement>* inside = nullptr;
    for (const Statement& statement : *body) {
      const std::vector<Statement>* loops = body_with_loops(statement);
      if (loops && inside) return body;
      if (loops) inside = loops;
    }
    if (!inside) return nullptr;
    body = inside;
  }
}

}  // namespace tap::cost
