// The main program of `tapc compile --emit=exe`: it reads .npy files, runs the program once, and writes .npy files.
// It uses the C library only, without its start-up files, so that linking needs nothing else.
//
//   ./mlp -i X=@x.npy -i W1=@w1.npy -i b1=@b1.npy -o Y=@y.npy --threads 2
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/library.h"

extern "C" {
// By backend/llvm/emit_library.cpp.
extern const tap::library::Program tap_standalone_program __attribute__((visibility("hidden")));
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, int (*init)(int, char**, char**),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end);
}

namespace {

using namespace tap;
using tables::Reader;
using tables::Tensor;

enum Exit : int { done = 0, wrong_command_line = 2, wrong_data = 3, no_resource = 4, run_time = 6 };

// As NumPy writes them, by ElementType: f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool. NumPy has no bf16.
constexpr const char* descriptions[] = {"<f8", "<f4", "<f2", "", "<i8", "<i4", "<i2", "|i1", "|u1", "|b1"};

const char* program_name = "program";

[[noreturn]] void stop(int code, const char* what, const char* name, const char* why) {
  fprintf(stderr, "%s: %s%s%s\n", program_name, what, name, why);
  exit(code);
}

template <class T>
T* room_for(int64_t count) {
  auto* memory = static_cast<T*>(calloc(static_cast<size_t>(count + 1), sizeof(T)));
  if (!memory) stop(no_resource, "out of memory", "", "");
  return memory;
}

// A tensor of the program, where it comes from or goes to, and its cells.
struct Slot {
  const Tensor* tensor;
  const char* path;
  library::TensorView view;
  char* unfinished;  // beside the path, until all results are written
};

struct Slots {
  Slot* all;
  int64_t count;
};

Slots slots_of(const Reader& tables, const tables::List& list) {
  Slots slots{room_for<Slot>(list.count), list.count};
  for (int64_t k = 0; k < list.count; ++k) slots.all[k].tensor = &tables.all<Tensor>(list)[k];
  return slots;
}

bool is_called(const Reader& tables, const Tensor& tensor, const char* name, size_t length) {
  return static_cast<size_t>(tensor.name.bytes) == length && memcmp(tables.text(tensor.name), name, length) == 0;
}

void require_distinct(const Slots& results) {
  for (int64_t k = 0; k < results.count; ++k)
    for (int64_t j = 0; j < k; ++j)
      if (results.all[k].path && results.all[j].path && strcmp(results.all[k].path, results.all[j].path) == 0)
        stop(wrong_command_line, "two results have the same file `", results.all[k].path, "`");
}

// NAME=@FILE.npy
void take(const Reader& tables, const Slots& slots, const char* word, const char* role) {
  const char* equals = strchr(word, '=');
  if (!equals || equals[1] != '@' || !equals[2])
    stop(wrong_command_line, role, word, " must have the form NAME=@FILE.npy");
  for (int64_t k = 0; k < slots.count; ++k) {
    Slot& slot = slots.all[k];
    if (!is_called(tables, *slot.tensor, word, static_cast<size_t>(equals - word))) continue;
    if (slot.path) stop(wrong_command_line, role, word, " is given twice");
    slot.path = equals + 2;
    return;
  }
  stop(wrong_command_line, role, word, " is not in the program; --help lists the names");
}

// (64, 1024) in the order of the axes
void print_shape(FILE* to, const Reader& tables, const Tensor& tensor) {
  fputs("(", to);
  for (int64_t axis = 0; axis < tensor.extents.count; ++axis)
    fprintf(to,
            axis + 1 < tensor.extents.count ? "%lld, "
            : axis == 0                     ? "%lld,"
                                            : "%lld",
            static_cast<long long>(tables.words(tensor.extents.at)[axis]));
  fputs(")", to);
}

void list(const Reader& tables, const Slots& slots, const char* option, const char* role) {
  for (int64_t k = 0; k < slots.count; ++k) {
    const Tensor& tensor = *slots.all[k].tensor;
    printf("  %s %.*s=@FILE.npy   %s, %s ", option, static_cast<int>(tensor.name.bytes), tables.text(tensor.name), role,
           descriptions[tensor.element]);
    print_shape(stdout, tables, tensor);
    printf("\n");
  }
}

[[noreturn]] void help(const Reader& tables, const Slots& inputs, const Slots& outputs) {
  printf("usage: %s [--threads N] -i NAME=@FILE.npy … -o NAME=@FILE.npy …\n", program_name);
  list(tables, inputs, "-i", "an input");
  list(tables, outputs, "-o", "a result");
  exit(fflush(stdout) == 0 ? done : no_resource);
}

// What stands behind 'key': in the header, or null.
const char* value_of(const char* header, const char* key) {
  const char* at = strstr(header, key);
  return at ? at + strlen(key) : nullptr;
}

bool starts_with(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }

// Whether the header is one of such a tensor; of one in Fortran's order the strides are set.
void check_header(const Reader& tables, Slot& slot, const char* header) {
  const Tensor& tensor = *slot.tensor;
  const char *type = value_of(header, "'descr': '"), *order = value_of(header, "'fortran_order': "),
             *shape = value_of(header, "'shape': (");
  if (!type || !order || !shape) stop(wrong_data, "`", slot.path, "` has no NumPy header");
  const char* wanted = descriptions[tensor.element];
  if (!starts_with(type, wanted) || type[strlen(wanted)] != '\'') {
    fprintf(stderr, "%s: `%s` has type %.*s, expected %s\n", program_name, slot.path,
            static_cast<int>(strcspn(type, "'")), type, wanted);
    exit(wrong_data);
  }
  const int64_t* extents = tables.words(tensor.extents.at);
  bool fits = true;
  for (int64_t axis = 0; fits && axis < tensor.extents.count; ++axis) {
    char* end = nullptr;
    fits = strtoll(shape, &end, 10) == extents[axis] && end != shape && (*end == ',' || *end == ')');
    shape = end + strspn(end, ", ");
  }
  if (!fits || *shape != ')') {
    fprintf(stderr, "%s: `%s` has the wrong shape; expected ", program_name, slot.path);
    print_shape(stderr, tables, tensor);
    fputs("\n", stderr);
    exit(wrong_data);
  }
  if (!starts_with(order, "True")) return;
  auto* strides = room_for<int64_t>(tensor.extents.count);
  for (int64_t axis = 0, stride = 1; axis < tensor.extents.count; stride *= extents[axis++]) strides[axis] = stride;
  slot.view.strides = strides;
}

void read(const Reader& tables, Slot& slot) {
  FILE* file = fopen(slot.path, "rb");
  if (!file) stop(errno == ENOMEM ? no_resource : wrong_data, slot.path, " cannot be read: ", strerror(errno));
  unsigned char head[12] = {};
  bool whole = fread(head, 1, 10, file) == 10 && memcmp(head, "\x93NUMPY", 6) == 0 && (head[6] == 1 || head[6] == 2);
  size_t length = head[8] | static_cast<size_t>(head[9]) << 8;
  if (whole && head[6] == 2) {
    whole = fread(head + 10, 1, 2, file) == 2;
    length |= static_cast<size_t>(head[10]) << 16 | static_cast<size_t>(head[11]) << 24;
  }
  if (!whole || length > 1 << 20) stop(wrong_data, "`", slot.path, "` is not a .npy file");
  char* header = room_for<char>(static_cast<int64_t>(length));
  if (fread(header, 1, length, file) != length) stop(wrong_data, "`", slot.path, "` is truncated in its header");
  check_header(tables, slot, header);
  free(header);
  auto bytes = static_cast<size_t>(bytes_of(tables, *slot.tensor));
  slot.view.data = room_for<char>(static_cast<int64_t>(bytes));
  if (fread(slot.view.data, 1, bytes, file) != bytes) stop(wrong_data, "`", slot.path, "` has too few cells");
  if (fgetc(file) != EOF) stop(wrong_data, "`", slot.path, "` has data after its last cell");
  fclose(file);
}

[[noreturn]] void cannot_write(const Slots& results, const char* path, const char* why) {
  for (int64_t k = 0; k < results.count; ++k)
    if (results.all[k].unfinished) remove(results.all[k].unfinished);
  stop(no_resource, path, " cannot be written: ", why);
}

void write_file(const Reader& tables, const Slot& slot, FILE* file) {
  char header[4096] = {};
  FILE* text = fmemopen(header, sizeof header, "w");
  if (!text) stop(no_resource, "out of memory", "", "");
  fprintf(text, "{'descr': '%s', 'fortran_order': False, 'shape': ", descriptions[slot.tensor->element]);
  print_shape(text, tables, *slot.tensor);
  fputs(", }", text);
  fclose(text);
  size_t used = strlen(header), length = (10 + used + 1 + 63) / 64 * 64 - 10;
  memset(header + used, ' ', length - 1 - used);
  header[length - 1] = '\n';
  unsigned char head[11] = "\x93NUMPY\x01";
  head[8] = static_cast<unsigned char>(length & 255);
  head[9] = static_cast<unsigned char>(length >> 8);
  fwrite(head, 1, 10, file);
  fwrite(header, 1, length, file);
  fwrite(slot.view.data, 1, static_cast<size_t>(bytes_of(tables, *slot.tensor)), file);
}

// A device is no place, nor is what a link at the name of the unfinished file points to.
void write(const Reader& tables, const Slots& results, Slot& slot) {
  struct stat there;
  if (stat(slot.path, &there) == 0 && !S_ISREG(there.st_mode))
    cannot_write(results, slot.path, "it exists and is not a regular file");
  char* unfinished = room_for<char>(static_cast<int64_t>(strlen(slot.path)) + 64);
  sprintf(unfinished, "%s.%ld.unfinished", slot.path, static_cast<long>(getpid()));
  int descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_write(results, slot.path, strerror(errno));
  slot.unfinished = unfinished;
  FILE* file = fdopen(descriptor, "wb");
  if (!file) cannot_write(results, slot.path, strerror(errno));
  write_file(tables, slot, file);
  bool written = fflush(file) == 0 && ferror(file) == 0 && (fsync(descriptor) == 0 || errno == EINVAL);
  int why = errno;
  if (fclose(file) != 0 || !written) cannot_write(results, slot.path, strerror(written ? errno : why));
}

// Beside their places first, then in them: a file that is there is whole, and none is if one cannot be written.
void write_all(const Reader& tables, const Slots& results) {
  for (int64_t k = 0; k < results.count; ++k)
    if (results.all[k].path) write(tables, results, results.all[k]);
  for (int64_t k = 0; k < results.count; ++k) {
    Slot& slot = results.all[k];
    if (!slot.path) continue;
    if (rename(slot.unfinished, slot.path) != 0) cannot_write(results, slot.path, strerror(errno));
    slot.unfinished = nullptr;
  }
}

void require(int32_t status, library::Context* context) {
  if (status == 0) return;
  char text[4096] = "out of memory";
  if (context) tap_library_message(context, text, sizeof text);
  auto why = static_cast<executor::Status>(status);
  stop(why == executor::Status::failed      ? run_time
       : why == executor::Status::no_memory ? no_resource
                                            : wrong_data,
       text, "", "");
}

int64_t threads_in(const char* word) {
  char* end = nullptr;
  long long threads = strtoll(word, &end, 10);
  if (end == word || *end || threads < 1 || threads > 4096)
    stop(wrong_command_line, "--threads ", word, ": expected a number from 1 to 4096");
  return threads;
}

int run(int count, char** words, char**) {
  Reader tables(tap_standalone_program.tables);
  if (count > 0 && words[0]) program_name = words[0];
  Slots inputs = slots_of(tables, tables.head().inputs), outputs = slots_of(tables, tables.head().outputs);
  library::Options options{1, nullptr};
  for (int k = 1; k < count; ++k) {
    bool input = strcmp(words[k], "-i") == 0, output = strcmp(words[k], "-o") == 0;
    bool threads = strcmp(words[k], "--threads") == 0;
    if (strcmp(words[k], "--help") == 0) help(tables, inputs, outputs);
    if (!input && !output && !threads) stop(wrong_command_line, "`", words[k], "` is not an option; --help lists them");
    if (++k == count) stop(wrong_command_line, "`", words[k - 1], "` needs a value");
    if (threads) options.threads = threads_in(words[k]);
    else take(tables, input ? inputs : outputs, words[k], input ? "the input " : "the result ");
  }
  require_distinct(outputs);
  auto *constants = room_for<library::TensorView>(inputs.count), *given = room_for<library::TensorView>(inputs.count);
  auto* results = room_for<library::TensorView>(outputs.count);
  int64_t constant_count = 0, given_count = 0;
  for (int64_t k = 0; k < inputs.count; ++k) {
    Slot& slot = inputs.all[k];
    if (!slot.path) {
      fprintf(stderr, "%s: the input %.*s is missing; --help lists them\n", program_name,
              static_cast<int>(slot.tensor->name.bytes), tables.text(slot.tensor->name));
      return wrong_command_line;
    }
    read(tables, slot);
    (slot.tensor->constant ? constants[constant_count++] : given[given_count++]) = slot.view;
  }
  for (int64_t k = 0; k < outputs.count; ++k) {
    outputs.all[k].view.data = room_for<char>(bytes_of(tables, *outputs.all[k].tensor));
    results[k] = outputs.all[k].view;
  }
  library::Context* context = nullptr;
  require(tap_library_prepare(&tap_standalone_program, &context, constants, &options), context);
  require(tap_library_run(context, given, results), context);
  write_all(tables, outputs);
  tap_library_release(context);
  return done;
}

}  // namespace

extern "C" {

// As the system starts a process: the stack has the number of words and the words, rdx what to call at the end.
__attribute__((visibility("hidden"), noreturn, used)) void tap_standalone_start(long* stack,
                                                                                void (*loader_fini)(void)) {
  __libc_start_main(run, static_cast<int>(stack[0]), reinterpret_cast<char**>(stack + 1), nullptr, nullptr, loader_fini,
                    stack);
  __builtin_trap();
}

#ifdef __x86_64__
__asm__(
    ".text\n.globl _start\n.type _start, @function\n_start:\n"
    "  xor %ebp, %ebp\n  mov %rsp, %rdi\n  mov %rdx, %rsi\n  and $-16, %rsp\n  call tap_standalone_start\n");
#else
__asm__(
    ".text\n.globl _start\n.type _start, %function\n_start:\n"
    "  mov x29, #0\n  mov x1, x0\n  mov x0, sp\n  bl tap_standalone_start\n");
#endif
}
