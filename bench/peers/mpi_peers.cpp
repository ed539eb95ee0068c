// Two processes of an MPI job: our compiled programs beside ScaLAPACK, beside products that are sharded by hand, and beside
// MPI_Allreduce; and without a launcher, our sum of two partials on two threads beside the triad of STREAM (mpi.py).
//
//   mpirun -n 2 mpi_peers matmul 1024 ./matmul.so 2        each line: the peer, and the seconds of its median call
//   mpirun -n 2 mpi_peers all_reduce 16777216 ./all_reduce.so 2
//   mpi_peers triad 16777216 ./all_reduce.so 2
#include <dlfcn.h>
#include <mpi.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
int numroc_(const int* n, const int* block, const int* process, const int* first, const int* processes);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb, const int* nb, const int* first_row,
               const int* first_column, const int* context, const int* leading, int* info);
void psgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const float* alpha,
             const float* a, const int* ia, const int* ja, const int* da, const float* b, const int* ib, const int* jb,
             const int* db, const float* beta, float* c, const int* ic, const int* jc, const int* dc);
void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
            const int* ldc);
}

namespace {

int rank_of_process = 0, processes = 1;

float* cells(std::size_t count) {
  void* memory = nullptr;
  const std::size_t bytes = (count * sizeof(float) + (1 << 21)) >> 21 << 21;
  if (posix_memalign(&memory, 1 << 21, bytes) != 0) std::abort();
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return static_cast<float*>(memory);
}

float value(std::int64_t tensor, std::int64_t i, std::int64_t j) {
  return static_cast<float>((i * 31 + j * 17 + tensor * 7) % 23 - 11) / 8;
}

struct Peer {
  std::string name;
  std::function<void()> call;
};

// Peers take turns; of each, the median of the slowest process's times.
void measure(const std::vector<Peer>& peers, double seconds) {
  std::vector<std::vector<double>> times(peers.size());
  for (const Peer& peer : peers) peer.call();
  const double begin = MPI_Wtime();
  bool goes_on = true;
  while (goes_on) {
    for (std::size_t p = 0; p < peers.size(); ++p) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double from = MPI_Wtime();
      peers[p].call();
      double own = MPI_Wtime() - from, slowest = 0;
      MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      times[p].push_back(slowest);
    }
    int more = times[0].size() < 5 || MPI_Wtime() - begin < seconds * static_cast<double>(peers.size());
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    goes_on = more != 0;
  }
  for (std::size_t p = 0; p < peers.size() && rank_of_process == 0; ++p) {
    std::sort(times[p].begin(), times[p].end());
    std::printf("%s %.6g\n", peers[p].name.c_str(), times[p][times[p].size() / 2]);
  }
}

struct Tensor {
  void* data;
  const std::int64_t* strides;
};
struct Options {
  std::int64_t threads;
  const void* kernels;
};
struct Part {
  std::int64_t tensor, bounds[4];
  float* cells;
};

// A program that `tapc compile --name p --mpi 2` made.
class Program {
 public:
  explicit Program(const char* path, std::int64_t threads, bool in_job) : library_(dlopen(path, RTLD_NOW)) {
    if (!library_) fail(dlerror());
    Options options{threads, nullptr};
    const int32_t status =
        in_job ? function<int32_t(void**, int32_t, const Tensor*, const Options*)>("p_prepare_mpi")(
                     &context_, MPI_Comm_c2f(MPI_COMM_WORLD), nullptr, &options)
               : function<int32_t(void**, const Tensor*, const Options*)>("p_prepare")(&context_, nullptr, &options);
    if (status != 0) fail("prepare");
    for (int kind : {1, 2}) {
      Part part{};
      auto next = function<std::int64_t(int32_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t*)>("p_part");
      while (true) {
        std::int64_t bounds[4] = {0, 1, 0, 1};
        const auto number = static_cast<std::int64_t>(parts[kind].size());
        part.tensor = next(kind, rank_of_process, processes, number, bounds);
        if (part.tensor < 0) break;
        std::copy_n(bounds, 4, part.bounds);
        part.cells = cells(static_cast<std::size_t>((bounds[1] - bounds[0]) * (bounds[3] - bounds[2])));
        parts[kind].push_back(part);
        tensors_[kind].push_back({part.cells, nullptr});
      }
    }
    run_ = function<int32_t(void*, const Tensor*, const Tensor*)>("p_run");
  }
  void run() {
    if (run_(context_, tensors_[1].data(), tensors_[2].data()) != 0) fail("run");
  }
  // Before MPI ends.
  void release() { function<void(void*)>("p_release")(context_); }

  std::vector<Part> parts[3];

 private:
  template <class F>
  F* function(const char* name) {
    void* found = dlsym(library_, name);
    if (!found) fail(name);
    return reinterpret_cast<F*>(found);
  }
  [[noreturn]] void fail(const char* what) {
    char text[512] = "";
    if (context_) function<std::size_t(void*, char*, std::size_t)>("p_message")(context_, text, sizeof text);
    std::fprintf(stderr, "%s: %s\n", what, text);
    std::exit(1);
  }

  void* library_ = nullptr;
  void* context_ = nullptr;
  int32_t (*run_)(void*, const Tensor*, const Tensor*) = nullptr;
  std::vector<Tensor> tensors_[3];
};

void require_equal(const char* what, double ours, double theirs, double tolerance) {
  if (std::abs(ours - theirs) <= tolerance * std::max(1.0, std::abs(theirs))) return;
  std::fprintf(stderr, "DISAGREE %s: %g and %g\n", what, ours, theirs);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

double sum_of(const float* from, std::size_t count) {
  double own = 0, all = 0;
  for (std::size_t k = 0; k < count; ++k) own += std::abs(from[k]);
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// C = A B. By hand, each process has half of the rows of A, B and C: it gathers B.
void matmul(int n, const char* library, double seconds) {
  Program ours(library, 1, true);
  for (const Part& part : ours.parts[1])
    for (std::int64_t i = part.bounds[0], at = 0; i < part.bounds[1]; ++i)
      for (std::int64_t j = part.bounds[2]; j < part.bounds[3]; ++j) part.cells[at++] = value(part.tensor, i, j);

  const int half = n / processes;
  const std::size_t own = static_cast<std::size_t>(half) * static_cast<std::size_t>(n);
  float *a = cells(own), *b = cells(own), *whole = cells(own * static_cast<std::size_t>(processes)), *c = cells(own);
  for (int i = 0; i < half; ++i)
    for (int j = 0; j < n; ++j) {
      a[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)] =
          value(0, i + rank_of_process * half, j);
      b[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)] =
          value(1, i + rank_of_process * half, j);
    }
  const float one = 1, zero = 0;
  // Row-major: the transposes in Fortran's order.
  auto local = [&] { sgemm_("N", "N", &n, &half, &n, &one, whole, &n, a, &n, &zero, c, &n); };
  auto by_hand = [&] {
    MPI_Allgather(b, static_cast<int>(own), MPI_FLOAT, whole, static_cast<int>(own), MPI_FLOAT, MPI_COMM_WORLD);
    local();
  };

  int context = 0, info = 0, descriptor[9];
  const int block = 128, first = 0, at = 1, columns = 1, column = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "R", processes, columns);
  const int rows = numroc_(&n, &block, &rank_of_process, &first, &processes);
  const int width = numroc_(&n, &block, &column, &first, &columns);
  descinit_(descriptor, &n, &n, &block, &block, &first, &first, &context, &rows, &info);
  const std::size_t held = static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  float *sa = cells(held), *sb = cells(held), *sc = cells(held);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < width; ++j) {
      const int global = (i / block * processes + rank_of_process) * block + i % block;
      const std::size_t k = static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i);
      sa[k] = value(0, global, j);
      sb[k] = value(1, global, j);
    }
  auto scalapack = [&] {
    psgemm_("N", "N", &n, &n, &n, &one, sa, &at, &at, descriptor, sb, &at, &at, descriptor, &zero, sc, &at, &at,
            descriptor);
  };
  measure({{"tapestry", [&] { ours.run(); }},
           {"scalapack_psgemm", scalapack},
           {"openblas+allgather", by_hand},
           {"openblas_local", local}},
          seconds);
  const Part& result = ours.parts[2].at(0);
  require_equal("rows", static_cast<double>(result.bounds[0]), rank_of_process * half, 0);
  for (std::size_t k = 0; k < own; k += 97) require_equal("cells", result.cells[k], c[k], 1e-4);
  require_equal("sums", sum_of(result.cells, own), sum_of(sc, held), 1e-4);
  ours.release();
}

void fill_partials(const Program& program) {
  for (const Part& part : program.parts[1])
    if (part.tensor == 0)
      for (std::int64_t d = part.bounds[0], at = 0; d < part.bounds[1]; ++d)
        for (std::int64_t j = part.bounds[2]; j < part.bounds[3]; ++j) part.cells[at++] = value(0, d, j);
}

// Every process adds two rows to a partial, and needs the sum of all partials.
void all_reduce(int n, const char* library, double seconds) {
  Program ours(library, 1, true);
  fill_partials(ours);
  const auto count = static_cast<std::size_t>(n);
  float *a = cells(count), *b = cells(count), *from = cells(count), *to = cells(count);
  for (int j = 0; j < n; ++j) {
    a[j] = value(0, 2 * rank_of_process, j);
    b[j] = value(0, 2 * rank_of_process + 1, j);
  }
  auto bare = [&] { MPI_Allreduce(from, to, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); };
  auto theirs = [&] {
    for (std::size_t j = 0; j < count; ++j) from[j] = a[j] + b[j];
    bare();
  };
  measure({{"tapestry", [&] { ours.run(); }}, {"add+MPI_Allreduce", theirs}, {"MPI_Allreduce", bare}}, seconds);
  for (const Part& part : ours.parts[2])
    if (part.tensor == 0)
      for (std::int64_t j = part.bounds[0]; j < part.bounds[1]; j += 1001)
        require_equal("cells", part.cells[j - part.bounds[0]], to[j], 0);
  ours.release();
}

// The partials of two devices in one process, added on two threads.
void triad(int n, const char* library, double seconds) {
  Program ours(library, 2, false);
  fill_partials(ours);
  omp_set_num_threads(2);
  const auto count = static_cast<std::size_t>(n);
  float *a = cells(count), *b = cells(count), *c = cells(count);
  for (std::size_t k = 0; k < count; ++k) b[k] = 1, c[k] = 2;
  auto stores = [&] {
#pragma omp parallel for simd schedule(static)
    for (std::size_t k = 0; k < count; ++k) a[k] = b[k] + 3 * c[k];
  };
  measure({{"tapestry", [&] { ours.run(); }}, {"triad", stores}}, seconds);
  require_equal("triad", a[count / 2], 7, 0);
  for (const Part& part : ours.parts[2])
    if (part.tensor == 0)
      for (std::int64_t j = 0; j < n; j += 1001)
        require_equal("cells", part.cells[j], value(0, 0, j) + value(0, 1, j), 0);
  ours.release();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  int granted = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const std::string what = argv[1];
  const int n = std::atoi(argv[2]);
  const double seconds = std::atof(argv[4]);
  if (what == "matmul") matmul(n, argv[3], seconds);
  if (what == "all_reduce") all_reduce(n, argv[3], seconds);
  if (what == "triad") triad(n, argv[3], seconds);
  MPI_Finalize();
  return 0;
}
