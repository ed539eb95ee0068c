// Helpers of the data files' tests: a folder that goes with the test, files in it, and what a Failure said.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

#include "runtime/shared_bytes.h"
#include "support/diagnostic.h"

namespace tap {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "tap-test-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline SharedBytes bytes_of_text(const std::string& text) {
  auto memory = aligned_bytes(text.size());
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), memory.get());
  return {std::move(memory), text.size()};
}

struct ThrownFailure {
  int exit_code = 0;
  std::string id, message, help;
};
// What the Failure thrown by `action` says; exit code 0 if none was thrown.
inline ThrownFailure thrown_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& f) {
    return {f.exit_code, std::string(info(f.diagnostic.code).id), f.diagnostic.message, f.diagnostic.help_text};
  }
  return {};
}

// The message contains `part`, with this exit code.
inline void expect_failure(const std::function<void()>& action, int exit_code, const std::string& part) {
  ThrownFailure t = thrown_by(action);
  EXPECT_EQ(t.exit_code, exit_code) << t.message;
  EXPECT_NE((t.message + "\n" + t.help).find(part), std::string::npos) << t.message << "\nhelp: " << t.help;
}

}  // namespace tap
