/* See shim.h. Messages above 1 GiB are sent in parts, since MPI counts bytes in an int. */
#include "runtime/mpi/shim.h"

#include <mpi.h>
#include <stdlib.h>

#include "runtime/mpi/chunks.h"

static const int64_t most = (int64_t)1 << 30;

struct job {
  MPI_Comm all;
  int32_t is_ours; /* MPI was started for this job */
  MPI_Request* requests;
  int started, room;
};

static MPI_Request* next_request(struct job* job) {
  if (job->started == job->room) {
    int larger = job->room == 0 ? 64 : 2 * job->room;
    MPI_Request* moved = realloc(job->requests, (size_t)larger * sizeof *moved);
    if (!moved) return NULL;
    job->requests = moved;
    job->room = larger;
  }
  return &job->requests[job->started++];
}

/* Only the thread that runs the program calls MPI. */
static int32_t start(void) {
  int granted = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &granted) != MPI_SUCCESS) return TAP_MPI_DOES_NOT_START;
  return granted < MPI_THREAD_FUNNELED ? TAP_MPI_TOO_FEW_THREADS : 0;
}

static int32_t require_started(int64_t threads) {
  int is_started = 0, is_over = 0, granted = MPI_THREAD_SINGLE, is_main = 0;
  MPI_Initialized(&is_started);
  MPI_Finalized(&is_over);
  if (!is_started || is_over) return TAP_MPI_NOT_STARTED;
  MPI_Query_thread(&granted);
  MPI_Is_thread_main(&is_main);
  if (granted < MPI_THREAD_FUNNELED && threads > 1) return TAP_MPI_TOO_FEW_THREADS;
  return granted < MPI_THREAD_SERIALIZED && !is_main ? TAP_MPI_TOO_FEW_THREADS : 0;
}

static int32_t join(const int32_t* communicator, int64_t threads, void** made) {
  const int32_t trouble = communicator ? require_started(threads) : start();
  if (trouble) return trouble;
  struct job* job = calloc(1, sizeof *job);
  if (!job) return TAP_MPI_NO_MEMORY;
  job->all = MPI_COMM_WORLD;
  job->is_ours = !communicator;
  if (communicator && MPI_Comm_dup(MPI_Comm_f2c((MPI_Fint)*communicator), &job->all) != MPI_SUCCESS) {
    free(job);
    return TAP_MPI_DOES_NOT_START;
  }
  MPI_Comm_set_errhandler(job->all, MPI_ERRORS_RETURN);
  *made = job;
  return 0;
}

static int64_t rank(void* self) {
  int own = 0;
  MPI_Comm_rank(((struct job*)self)->all, &own);
  return own;
}

static int64_t size(void* self) {
  int all = 1;
  MPI_Comm_size(((struct job*)self)->all, &all);
  return all;
}

static int32_t nodes(void* self, int32_t* first) {
  const struct job* job = self;
  MPI_Comm node = MPI_COMM_NULL;
  int own = 0;
  MPI_Comm_rank(job->all, &own);
  int32_t least = own; /* process 0 of the node, in the order of all */
  int failed = MPI_Comm_split_type(job->all, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &node) != MPI_SUCCESS;
  if (!failed) failed = MPI_Bcast(&least, 1, MPI_INT32_T, 0, node) != MPI_SUCCESS;
  if (!failed) failed = MPI_Allgather(&least, 1, MPI_INT32_T, first, 1, MPI_INT32_T, job->all) != MPI_SUCCESS;
  if (node != MPI_COMM_NULL) MPI_Comm_free(&node);
  return failed;
}

struct message {
  struct job* job;
  char* data;
  int other;  // the process at the other end
};

static int32_t send_chunk(void* self, int64_t at, int bytes) {
  const struct message* one = self;
  MPI_Request* request = next_request(one->job);
  if (!request) return 1;
  return MPI_Isend(one->data + at, bytes, MPI_BYTE, one->other, 0, one->job->all, request) != MPI_SUCCESS;
}

static int32_t receive_chunk(void* self, int64_t at, int bytes) {
  const struct message* one = self;
  MPI_Request* request = next_request(one->job);
  if (!request) return 1;
  return MPI_Irecv(one->data + at, bytes, MPI_BYTE, one->other, 0, one->job->all, request) != MPI_SUCCESS;
}

static int32_t send(void* self, int64_t to, const void* data, int64_t bytes) {
  struct message one = {self, (char*)data, (int)to};
  return tap_each_chunk(bytes, most, send_chunk, &one);
}

static int32_t receive(void* self, int64_t from, void* data, int64_t bytes) {
  struct message one = {self, data, (int)from};
  return tap_each_chunk(bytes, most, receive_chunk, &one);
}

static int32_t wait_for_all(void* self) {
  struct job* job = self;
  int failed = job->started > 0 && MPI_Waitall(job->started, job->requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
  job->started = 0;
  return failed;
}

static int32_t has_message(void* self, int64_t from) {
  int is_there = 0;
  /* Where it fails, receiving reports it. */
  return MPI_Iprobe((int)from, 0, ((struct job*)self)->all, &is_there, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_there;
}

static void leave(void* self) {
  struct job* job = self;
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (!is_over && job->is_ours) MPI_Finalize();
  else if (!is_over) MPI_Comm_free(&job->all);
  free(job->requests);
  free(job);
}

static void abort_all(void* self, int32_t code) { MPI_Abort(((struct job*)self)->all, code); }

__attribute__((visibility("default"))) const struct tap_mpi* tap_mpi_shim(void) {
  static const struct tap_mpi functions = {
      TAP_MPI_SHIM_VERSION, join, rank, size, nodes, send, receive, wait_for_all, has_message, leave, abort_all,
  };
  return &functions;
}
