#include "runtime/tensors/npy_dtype.h"

#include "runtime/failure.h"

namespace tap {
namespace {

struct Known {
  std::string_view code;  // without the byte order
  ElementType type;
  const char* written;
  const char* name;  // in Python
};
constexpr Known known[] = {
    {"f8", ElementType::f64, "<f8", "float64"},  {"f4", ElementType::f32, "<f4", "float32"},
    {"f2", ElementType::f16, "<f2", "float16"},  {"i8", ElementType::i64, "<i8", "int64"},
    {"i4", ElementType::i32, "<i4", "int32"},    {"i2", ElementType::i16, "<i2", "int16"},
    {"i1", ElementType::i8, "|i1", "int8"},      {"u1", ElementType::u8, "|u1", "uint8"},
    {"b1", ElementType::boolean, "|b1", "bool"},
};

struct Refused {
  char kind;
  std::string_view meaning;
};
constexpr Refused refused[] = {
    {'O', "Python objects, which only unpickling can read"},
    {'S', "byte strings"},
    {'a', "byte strings"},
    {'U', "text"},
    {'V', "raw bytes without a numeric meaning"},
    {'c', "complex numbers"},
    {'m', "time differences"},
    {'M', "dates"},
    {'f', "floats of a size that Tap does not have"},
    {'i', "integers of a size that Tap does not have"},
    {'u', "unsigned integers of a size that Tap does not have"},
    {'t', "bit fields"},
};

constexpr std::string_view readable = "supported types are f8, f4, f2, i8, i4, i2, i1, u1 and b1";

}  // namespace

NpyType parse_npy_type(std::string_view descr, const std::string& source_name) {
  char order = descr.empty() ? ' ' : descr[0];
  std::string_view code = descr.empty() ? descr : descr.substr(1);
  if (order == '<' || order == '>' || order == '=' || order == '|') {
    for (const Known& k : known) {
      if (k.code != code) continue;
      if (order == '|' && size_of(k.type) > 1)
        throw wrong_data(Code::data_type,
                         source_name + " has elements of type " + quoted(descr) + ", which does not state a byte order",
                         "NumPy writes " + quoted("<" + std::string(code)) + " for little-endian data");
      return {k.type, order == '>' && size_of(k.type) > 1};
    }
    for (const Refused& r : refused) {
      if (code.empty() || r.kind != code[0]) continue;
      std::string help = r.kind == 'V' ? "store bf16 in .safetensors files; " : "";
      throw wrong_data(Code::data_type,
                       source_name + " has elements of type " + quoted(descr) + ": " + std::string(r.meaning),
                       help + std::string(readable));
    }
  }
  throw wrong_data(Code::data_type, source_name + " has elements of the unknown type " + quoted(descr),
                   std::string(readable));
}

const char* npy_name_of(ElementType type) {
  for (const Known& k : known) {
    if (k.type == type) return k.name;
  }
  return nullptr;
}

const char* npy_type_of(ElementType type) {
  for (const Known& k : known) {
    if (k.type == type) return k.written;
  }
  return nullptr;
}

}  // namespace tap
