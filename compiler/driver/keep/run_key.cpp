#include "compiler/driver/keep/run_key.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <span>

#include "backend/llvm/build_id.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"
#include "ir/graphs/program_hash.h"
#include "support/phase.h"

namespace tap::driver {

using backend::ContentDigest, backend::Digest;

namespace {

std::span<const std::byte> bytes_of(const Digest& digest) { return std::as_bytes(std::span(digest)); }

// What each process has, in their order.
Digest combined(const Digest& own, const MpiHost* host) {
  if (!host) return own;
  const ProcessMessages messages(*host);
  Digest all = own;
  if (!host->is_first()) {
    messages.send(0, bytes_of(own));
    messages.receive(0, std::as_writable_bytes(std::span(all)));
    return all;
  }
  ContentDigest content;
  content.add(bytes_of(own));
  for (std::int64_t process = 1; process < host->size(); ++process) {
    Digest its{};
    messages.receive(process, std::as_writable_bytes(std::span(its)));
    content.add(bytes_of(its));
  }
  all = content.digest();
  for (std::int64_t process = 1; process < host->size(); ++process) messages.send(process, bytes_of(all));
  return all;
}

}  // namespace

Digest key_of(const backend::Executable& executable, const RunFiles& files, const std::vector<Tensor>& inputs,
              const MpiHost* host) {
  Phase phase("hashing inputs");
  ContentDigest content;
  content.add(std::as_bytes(std::span(executable.tables())));
  for (const Tensor& input : inputs) content.add({input.data(), input.byte_size()});
  for (const std::string& path : files.kernels) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    content.add(std::as_bytes(std::span(bytes)));
  }
  const Digest all = combined(content.digest(), host);
  return backend::digest_of({backend::to_hex(all), backend::build_id(), ir::hash_of(files.program),
                             files.strict_fp ? "strict" : "", fmt::format("process {}", host ? host->rank() : 0),
                             host ? std::to_string(host->size()) : ""});
}

}  // namespace tap::driver
