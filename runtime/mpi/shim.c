/* See shim.h. Messages above 1 GiB are sent in parts, since MPI counts bytes in an int. */
#include "runtime/mpi/shim.h"

#include <mpi.h>
#include <stdlib.h>

#include "runtime/mpi/chunks.h"

static const int64_t most = (int64_t)1 << 30;

static MPI_Request* requests = NULL;
static int started = 0, room = 0;

static MPI_Request* next_request(void) {
  if (started == room) {
    int larger = room == 0 ? 64 : 2 * room;
    MPI_Request* moved = realloc(requests, (size_t)larger * sizeof *moved);
    if (!moved) return NULL;
    requests = moved;
    room = larger;
  }
  return &requests[started++];
}

static int32_t start(void) {
  int granted = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &granted) != MPI_SUCCESS) return 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return granted < MPI_THREAD_FUNNELED ? 2 : 0;
}

static int64_t rank(void) {
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  return own;
}

static int64_t size(void) {
  int all = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  return all;
}

struct message {
  char* data;
  int other;  // the process at the other end
};

static int32_t send_chunk(void* self, int64_t at, int bytes) {
  const struct message* one = self;
  MPI_Request* request = next_request();
  if (!request) return 1;
  return MPI_Isend(one->data + at, bytes, MPI_BYTE, one->other, 0, MPI_COMM_WORLD, request) != MPI_SUCCESS;
}

static int32_t receive_chunk(void* self, int64_t at, int bytes) {
  const struct message* one = self;
  MPI_Request* request = next_request();
  if (!request) return 1;
  return MPI_Irecv(one->data + at, bytes, MPI_BYTE, one->other, 0, MPI_COMM_WORLD, request) != MPI_SUCCESS;
}

static int32_t send(void* self, int64_t to, const void* data, int64_t bytes) {
  struct message one = {(char*)data, (int)to};
  (void)self;
  return tap_each_chunk(bytes, most, send_chunk, &one);
}

static int32_t receive(void* self, int64_t from, void* data, int64_t bytes) {
  struct message one = {data, (int)from};
  (void)self;
  return tap_each_chunk(bytes, most, receive_chunk, &one);
}

static int32_t wait_for_all(void* self) {
  (void)self;
  int failed = started > 0 && MPI_Waitall(started, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
  started = 0;
  return failed;
}

static void stop(void) {
  int over = 0;
  MPI_Finalized(&over);
  if (!over) MPI_Finalize();
}

static void abort_all(int32_t code) { MPI_Abort(MPI_COMM_WORLD, code); }

__attribute__((visibility("default"))) const struct tap_mpi* tap_mpi_shim(void) {
  static const struct tap_mpi functions = {
      TAP_MPI_SHIM_VERSION, start, rank, size, send, receive, wait_for_all, stop, abort_all,
  };
  return &functions;
}
