// The constants of the zip format, shared by reader and writer (PKWARE's APPNOTE 6.3.9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/failure.h"

namespace tap::zip {

inline constexpr std::uint32_t local_signature = 0x04034b50;
inline constexpr std::uint32_t central_signature = 0x02014b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t end64_signature = 0x06064b50;
inline constexpr std::uint32_t locator64_signature = 0x07064b50;

inline constexpr std::size_t local_size = 30;
inline constexpr std::size_t central_size = 46;
inline constexpr std::size_t end_size = 22;
inline constexpr std::size_t end64_size = 56;
inline constexpr std::size_t locator64_size = 20;

inline constexpr std::uint16_t stored = 0;
inline constexpr std::uint16_t deflated = 8;

inline constexpr std::uint16_t extra_zip64 = 0x0001;
inline constexpr std::uint16_t extra_alignment = 0xD935;  // as written by Android's zipalign

inline constexpr std::uint16_t flag_encrypted = 1 << 0;
inline constexpr std::uint16_t flag_descriptor = 1 << 3;
inline constexpr std::uint16_t flag_patched = 1 << 5;
inline constexpr std::uint16_t flag_strong_encryption = 1 << 6;
inline constexpr std::uint16_t flag_masked = 1 << 13;

inline constexpr std::uint32_t all32 = 0xFFFFFFFF;  // in a 32-bit field: the value is in the zip64 part
inline constexpr std::uint16_t all16 = 0xFFFF;

inline Failure malformed(const std::string& source_name, const std::string& what) {
  return wrong_data(Code::data_malformed, source_name + " is not a valid zip archive: " + what);
}

}  // namespace tap::zip
