// The .npy files of a standalone program (standalone.cpp): which file is which tensor, reading and writing them whole.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/library.h"

namespace {

using namespace tap;
using tables::Reader;
using tables::Tensor;

enum Exit : int { done = 0, wrong_command_line = 2, wrong_data = 3, no_resource = 4, run_time = 6 };

// As NumPy writes them, by ElementType: f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool. NumPy has no bf16.
constexpr const char* descriptions[] = {"<f8", "<f4", "<f2", "", "<i8", "<i4", "<i2", "|i1", "|u1", "|b1"};

const char* program_name = "program";

// Of a process in a job, standalone_job.h: says which process it is, and ends the job.
[[noreturn]] void end_with(int code);
bool may_report();

[[noreturn]] void stop(int code, const char* what, const char* name, const char* why) {
  if (may_report()) fprintf(stderr, "%s: %s%s%s\n", program_name, what, name, why);
  end_with(code);
}

template <class T>
T* room_for(int64_t count) {
  auto* memory = static_cast<T*>(calloc(static_cast<size_t>(count + 1), sizeof(T)));
  if (!memory) stop(no_resource, "out of memory", "", "");
  return memory;
}

// A tensor of the program, its file, and its cells.
struct Slot {
  const Tensor* tensor;
  const char* path;
  library::TensorView view;
  char* unfinished;    // next to the path, until all results are written
  int64_t begins;      // where its cells begin in the file
  bool fortran_order;  // of a file that is read
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
  printf("usage: %s [--threads N] [--timeout SECONDS] -i NAME=@FILE.npy … -o NAME=@FILE.npy …\n", program_name);
  list(tables, inputs, "-i", "an input");
  list(tables, outputs, "-o", "a result");
  exit(fflush(stdout) == 0 ? done : no_resource);
}

// The text after 'key': in the header, or null.
const char* value_of(const char* header, const char* key) {
  const char* at = strstr(header, key);
  return at ? at + strlen(key) : nullptr;
}

bool starts_with(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }

// Checks that the header describes this tensor.
void check_header(const Reader& tables, Slot& slot, const char* header) {
  const Tensor& tensor = *slot.tensor;
  const char *type = value_of(header, "'descr': '"), *order = value_of(header, "'fortran_order': "),
             *shape = value_of(header, "'shape': (");
  if (!type || !order || !shape) stop(wrong_data, "`", slot.path, "` has no NumPy header");
  const char* expected = descriptions[tensor.element];
  if (!starts_with(type, expected) || type[strlen(expected)] != '\'') {
    if (may_report())
      fprintf(stderr, "%s: `%s` has type %.*s, expected %s\n", program_name, slot.path,
              static_cast<int>(strcspn(type, "'")), type, expected);
    end_with(wrong_data);
  }
  const int64_t* extents = tables.words(tensor.extents.at);
  bool fits = true;
  for (int64_t axis = 0; fits && axis < tensor.extents.count; ++axis) {
    char* end = nullptr;
    fits = strtoll(shape, &end, 10) == extents[axis] && end != shape && (*end == ',' || *end == ')');
    shape = end + strspn(end, ", ");
  }
  if (!fits || *shape != ')') {
    if (may_report()) {
      fprintf(stderr, "%s: `%s` has the wrong shape; expected ", program_name, slot.path);
      print_shape(stderr, tables, tensor);
      fputs("\n", stderr);
    }
    end_with(wrong_data);
  }
  slot.fortran_order = starts_with(order, "True");
}

// In elements, of cells that lie as in a file of Fortran order.
int64_t* fortran_strides(const int64_t* extents, int64_t rank) {
  auto* strides = room_for<int64_t>(rank);
  for (int64_t axis = 0, stride = 1; axis < rank; stride *= extents[axis++]) strides[axis] = stride;
  return strides;
}

// The file, after its header.
FILE* open_cells(const Reader& tables, Slot& slot) {
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
  slot.begins = ftell(file);
  return file;
}

void read(const Reader& tables, Slot& slot) {
  FILE* file = open_cells(tables, slot);
  auto bytes = static_cast<size_t>(bytes_of(tables, *slot.tensor));
  slot.view.data = room_for<char>(static_cast<int64_t>(bytes));
  if (fread(slot.view.data, 1, bytes, file) != bytes) stop(wrong_data, "`", slot.path, "` has too few cells");
  if (fgetc(file) != EOF) stop(wrong_data, "`", slot.path, "` has data after its last cell");
  if (slot.fortran_order)
    slot.view.strides = fortran_strides(tables.words(slot.tensor->extents.at), slot.tensor->extents.count);
  fclose(file);
}

Slots unfinished{nullptr, 0};  // results that are being written, for the signal handler

// Asked to end, the process leaves nothing behind.
void remove_and_end(int number) {
  for (int64_t k = 0; k < unfinished.count; ++k)
    if (unfinished.all[k].unfinished) unlink(unfinished.all[k].unfinished);
  signal(number, SIG_DFL);
  raise(number);
}

[[noreturn]] void cannot_write(const Slots& results, const char* path, const char* why) {
  for (int64_t k = 0; k < results.count; ++k)
    if (results.all[k].unfinished) remove(results.all[k].unfinished);
  stop(no_resource, path, " cannot be written: ", why);
}

// Without cells, a file of the whole size is left for them.
bool write_file(const Reader& tables, Slot& slot, FILE* file) {
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
  const auto bytes = static_cast<size_t>(bytes_of(tables, *slot.tensor));
  slot.begins = static_cast<int64_t>(10 + length);
  if (slot.view.data) return fwrite(slot.view.data, 1, bytes, file) == bytes;
  return fflush(file) == 0 && ftruncate(fileno(file), static_cast<off_t>(10 + length + bytes)) == 0;
}

// Refuses devices, and does not follow a link at the name of the unfinished file.
void write(const Reader& tables, const Slots& results, Slot& slot) {
  struct stat info;
  if (stat(slot.path, &info) == 0 && !S_ISREG(info.st_mode))
    cannot_write(results, slot.path, "it exists and is not a regular file");
  char* unfinished = room_for<char>(static_cast<int64_t>(strlen(slot.path)) + 64);
  sprintf(unfinished, "%s.%ld.unfinished", slot.path, static_cast<long>(getpid()));
  int descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_write(results, slot.path, strerror(errno));
  slot.unfinished = unfinished;
  FILE* file = fdopen(descriptor, "wb");
  if (!file) cannot_write(results, slot.path, strerror(errno));
  bool written = write_file(tables, slot, file) && fflush(file) == 0 && ferror(file) == 0 &&
                 (fsync(descriptor) == 0 || errno == EINVAL);
  int why = errno;
  if (fclose(file) != 0 || !written) cannot_write(results, slot.path, strerror(written ? errno : why));
}

// Writes all files under temporary names first, then renames them: an existing file is complete, and if one cannot be
// written, none is.
void write_all(const Reader& tables, const Slots& results) {
  unfinished = results;
  constexpr int asks_to_end[] = {SIGINT, SIGTERM, SIGHUP};
  for (int number : asks_to_end) signal(number, remove_and_end);
  for (int64_t k = 0; k < results.count; ++k)
    if (results.all[k].path) write(tables, results, results.all[k]);
}

void rename_all(const Slots& results) {
  for (int64_t k = 0; k < results.count; ++k) {
    Slot& slot = results.all[k];
    if (!slot.path) continue;
    if (rename(slot.unfinished, slot.path) != 0) cannot_write(results, slot.path, strerror(errno));
    slot.unfinished = nullptr;
  }
}

}  // namespace
