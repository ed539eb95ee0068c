// Preloaded into tapc: the k-th allocation since main began fails, or all from the k-th on.
//
//   LD_PRELOAD=fail_malloc.so TAP_FAIL_MALLOC=17 tapc …        TAP_FAIL_MALLOC=17+ for all from there
//
// main begins with sigaltstack (compiler/driver/process.cpp); what libraries allocate before is none of our doing. With
// TAP_COUNT_MALLOC=FILE the number of allocations is written there at the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static atomic_long counted;
static long first, last;  // which fail
static atomic_int counting;

static int fails(void) {
  if (!atomic_load(&counting)) return 0;
  long number = atomic_fetch_add(&counted, 1) + 1;
  if (number < first || number > last) return 0;
  errno = ENOMEM;
  return 1;
}

static void tell(void) {
  const char* path = getenv("TAP_COUNT_MALLOC");
  if (!path) return;
  char text[32];
  int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&counted));
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, text, (size_t)length) != length) abort();
  close(file);
}

int sigaltstack(const stack_t* stack, stack_t* old) {
  const char* wanted = getenv("TAP_FAIL_MALLOC");
  if (wanted) {
    char* end;
    first = strtol(wanted, &end, 10);
    last = *end == '+' ? 1L << 62 : first;
  }
  atexit(tell);
  atomic_store(&counting, 1);
  return (int)syscall(SYS_sigaltstack, stack, old);
}

// Hwloc does not look whether it was given memory: while it is asked for the machine's caches, nothing fails.
int hwloc_topology_init(void** topology) {
  int (*init)(void**) = (int (*)(void**))dlsym(RTLD_NEXT, "hwloc_topology_init");
  atomic_store(&counting, 0);
  return init(topology);
}
void hwloc_topology_destroy(void* topology) {
  void (*destroy)(void*) = (void (*)(void*))dlsym(RTLD_NEXT, "hwloc_topology_destroy");
  destroy(topology);
  atomic_store(&counting, 1);
}

// The C library ends the process itself where it has no memory to note what a thread is to destroy.
static int must_succeed(void* caller) {
  Dl_info where;
  return dladdr(caller, &where) && where.dli_sname && strcmp(where.dli_sname, "__cxa_thread_atexit_impl") == 0;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) {
  return fails() && !must_succeed(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void** to, size_t alignment, size_t size) {
  if (fails()) return ENOMEM;
  *to = __libc_memalign(alignment, size);
  return *to ? 0 : ENOMEM;
}
