#!/usr/bin/env python3
"""Random programs as code for another processor: tapc compiles each with the plan that random_programs drew for it, and a program in
C gives it the inputs and compares the results with the oracle's, bit by bit, between bytes that nobody may write.

    other_targets.py TAPC RANDOM_PROGRAMS SOURCE [--target aarch64] [--seed 1] [--count 100] [--batch 20] [--work FOLDER]

aarch64 runs under qemu, x86-64-v3 on this machine (or, with --emulate, under qemu as a processor without AVX-512).
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

DRIVER = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { char role; char type; long bytes; } tensor;  /* c, i, o, r; d, s, h, b: floats */
typedef int32_t (*prepare_function)(void **, const tapestry_tensor *, const tapestry_options *);
typedef int32_t (*run_function)(void *, const tapestry_tensor *, const tapestry_tensor *);
typedef size_t (*message_function)(void *, char *, size_t);
typedef void (*release_function)(void *);

enum { GUARD = 64 };

static int is_nan(char type, const unsigned char *at) {
  uint64_t d; uint32_t s; uint16_t h;
  switch (type) {
    case 'd': memcpy(&d, at, 8); return (d & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
    case 's': memcpy(&s, at, 4); return (s & 0x7fffffffu) > 0x7f800000u;
    case 'h': memcpy(&h, at, 2); return (h & 0x7fff) > 0x7c00;
    case 'b': memcpy(&h, at, 2); return (h & 0x7fff) > 0x7f80;
  }
  return 0;
}

static int is_zero(const unsigned char *at, long size) {  /* of a float: its sign is the top bit of the last byte */
  for (long n = 0; n < size; ++n)
    if (at[n] & (n + 1 == size ? 0x7f : 0xff)) return 0;
  return 1;
}

/* Where products may be distributed over sums, the sign of a zero is free. */
static int same(char type, const unsigned char *a, const unsigned char *b, long bytes, int signed_zeros, long *where) {
  long size = type == 'd' ? 8 : type == 's' ? 4 : type == 'h' || type == 'b' ? 2 : 1;
  for (long at = 0; at < bytes; at += size) {
    if (!memcmp(a + at, b + at, (size_t)size) || (is_nan(type, a + at) && is_nan(type, b + at))) continue;
    if (!signed_zeros && size > 1 && is_zero(a + at, size) && is_zero(b + at, size)) continue;
    *where = at / size;
    return 0;
  }
  return 1;
}

static int check(const char *folder, const tensor *tensors, int count, int signed_zeros, int threads, prepare_function prepare, run_function run,
                 message_function message, release_function release) {
  char path[4096], text[512];
  tapestry_tensor constants[64], inputs[64], outputs[256];
  unsigned char *wanted[256];
  const tensor *of[256];
  int n[3] = {0, 0, 0}, bad = 0;
  snprintf(path, sizeof path, "%s/data", folder);
  FILE *file = fopen(path, "rb");
  if (!file) { printf("%s: no data\n", folder); return 1; }
  for (int k = 0; k < count; ++k) {
    long bytes = tensors[k].bytes, whole = (bytes + 63) / 64 * 64 + 64 + 2 * GUARD;
    unsigned char *memory = aligned_alloc(64, (size_t)whole), *data = memory + GUARD;
    memset(memory, 0xA5, (size_t)whole);
    if (tensors[k].role == 'o' || tensors[k].role == 'r') {
      wanted[n[2]] = malloc((size_t)bytes + 1);
      if (fread(wanted[n[2]], 1, (size_t)bytes, file) != (size_t)bytes) return 1;
      of[n[2]] = &tensors[k];
      outputs[n[2]++] = (tapestry_tensor){data, 0};
    } else {
      if (fread(data, 1, (size_t)bytes, file) != (size_t)bytes) return 1;
      if (tensors[k].role == 'c') constants[n[0]++] = (tapestry_tensor){data, 0};
      else inputs[n[1]++] = (tapestry_tensor){data, 0};
    }
  }
  fclose(file);
  void *context = 0;
  tapestry_options options = {threads, 0};
  int32_t status = prepare(&context, constants, &options);
  if (status == 0) status = run(context, inputs, outputs);
  if (status != 0) {
    message(context, text, sizeof text);
    printf("%s: status %d: %s\n", folder, status, text);
    return 1;
  }
  for (int k = 0; k < n[2]; ++k) {
    unsigned char *data = outputs[k].data;
    long bytes = of[k]->bytes, end = (bytes + 63) / 64 * 64 + 64, where = 0;
    for (long at = -GUARD; at < end; ++at)
      if ((at < 0 || at >= bytes) && data[at] != 0xA5) { printf("%s: result %d: byte %ld is written, of %ld\n", folder, k, at, bytes); bad = 1; break; }
    if (of[k]->role == 'o' && !same(of[k]->type, data, wanted[k], bytes, signed_zeros, &where)) { printf("%s: result %d differs at %ld\n", folder, k, where); bad = 1; }
  }
  release(context);
  return bad;
}
"""

TYPES = {"f64": "d", "f32": "s", "f16": "h", "bf16": "b"}


class Batch:
    def __init__(self, arguments, tools, folders):
        self.arguments, self.tools, self.folders = arguments, tools, folders
        self.failures = []

    def compile(self, folder):
        """The object file and header of one program; None, with a message, if tapc rejects it or fails."""
        name = "p" + folder.name
        words = [self.arguments.tapc, "compile", str(folder / "program.tap"), "-o", str(folder / (name + ".so")), "--name=" + name, "--emit=obj",
                 "--target=" + self.arguments.target] + (folder / "options").read_text().split()
        if (folder / "plan").read_text().strip():
            words += ["--plan", str(folder / "plan")]
        made = subprocess.run(words, capture_output=True, text=True)
        if made.returncode:
            self.failures.append(f"{folder}: {' '.join(words)}: exit {made.returncode}: {made.stderr[:1500]}")
            return None
        return name

    def run(self):
        includes, calls, objects = "", "", []
        for folder in self.folders:
            name = self.compile(folder)
            if not name:
                continue
            tensors = [line.split() for line in (folder / "tensors").read_text().splitlines()]
            table = ", ".join("{'%s', '%s', %s}" % (role[0], TYPES.get(kind, "i"), size) for role, kind, size in tensors)
            strict = "--strict-fp" in (folder / "options").read_text()
            includes += f'#include "{folder}/{name}.h"\n'
            calls += (f'  {{ static const tensor t[] = {{{table}}}; bad |= check("{folder}", t, {len(tensors)}, {int(strict)}, {1 + len(objects) % 2}, (prepare_function){name}_prepare, '
                      f"(run_function){name}_run, (message_function){name}_message, (release_function){name}_release); }}\n")
            objects.append(str(folder / (name + ".o")))
        if not objects:
            return self.failures
        work = self.folders[0]
        (work / "main.c").write_text(includes + DRIVER + "int main(void) {\n  int bad = 0;\n" + calls + "  return bad;\n}\n")
        self.call(self.tools.c, "-w", "-O1", "-c", str(work / "main.c"), "-o", str(work / "main.o"))
        self.call(self.tools.cxx, str(work / "main.o"), *objects, str(self.tools.runtime), "-static", "-pthread", "-o", str(work / "main"))
        ran = subprocess.run([*self.tools.emulator, str(work / "main")], capture_output=True, text=True, timeout=600)
        if ran.returncode:
            self.failures.append(f"exit {ran.returncode}\n{ran.stdout}{ran.stderr}")
        return self.failures

    @staticmethod
    def call(*words):
        subprocess.run(words, check=True)


class Tools:
    """Tools of the target: compilers, a command that runs its programs, the executor as an object file."""

    def __init__(self, arguments, work):
        aarch64 = arguments.target == "aarch64"
        prefix = "aarch64-linux-gnu-" if aarch64 else ""
        self.c, self.cxx = prefix + "gcc", prefix + "g++"
        self.emulator = [find("qemu-aarch64")] if aarch64 else [find("qemu-x86_64"), "-cpu", "Haswell"] if arguments.emulate else []
        self.runtime = work / "executor.o"
        source = pathlib.Path(arguments.source)
        subprocess.run([self.cxx, "-std=c++20", "-O2", "-fno-exceptions", "-fno-rtti", "-w", f"-I{source}", "-c", str(source / "runtime/embedded/executor.cpp"),
                        "-o", str(self.runtime)], check=True)


def find(name):
    found = shutil.which(name) or shutil.which(name + "-static")
    if not found:
        sys.exit(f"{name} is missing: scripts/install-deps.sh installs it")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tapc")
    parser.add_argument("random_programs")
    parser.add_argument("source")
    parser.add_argument("--target", default="aarch64")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--emulate", action="store_true")
    arguments = parser.parse_args()
    failed = programs = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        tools = Tools(arguments, work)
        for first in range(arguments.seed, arguments.seed + arguments.count, arguments.batch):
            batch_folder = work / str(first)
            number = min(arguments.batch, arguments.seed + arguments.count - first)
            made = subprocess.run([arguments.random_programs, "--seed", str(first), "--count", str(number), "--dump", str(batch_folder), "--keep-going", "yes",
                                   "--reduce", "no"], capture_output=True, text=True)
            if made.returncode:
                failed += 1
                print("\n".join(line for line in made.stdout.splitlines() if line.startswith("seed") and "programs in" not in line))
            folders = sorted(batch_folder.iterdir(), key=lambda f: int(f.name)) if batch_folder.exists() else []
            for failure in Batch(arguments, tools, folders).run() if folders else []:
                failed += 1
                print(failure, flush=True)
            programs += len(folders)
            shutil.rmtree(batch_folder, ignore_errors=True)
    print(f"{arguments.target}: seed {arguments.seed}, {programs} programs, {failed} failures")
    return 1 if failed or programs < arguments.count / 3 else 0


if __name__ == "__main__":
    sys.exit(main())
