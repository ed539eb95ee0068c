#!/bin/bash
# make campaign: the runs that are too long for every change. Prints one line per part with its time and keeps all
# output under out/campaign/. If a part fails, the others still run, and the campaign fails.
#
#   scripts/campaign.sh [tsan] [asan] [fuzz] [hostile] [mutants] [random] [targets] [examples] [maths] [mpi] [mutation] [tidy]
#                       [bench]
#                       all of them by default
#
#   SIZE=short          minutes instead of hours, to check that everything runs
#   FUZZ_SECONDS=600    for each fuzz target
#   RANDOM_CASES=5000   of each property test
#   RANDOM_PROGRAMS=50000, TARGET_PROGRAMS=2000   random programs on this machine, and on each other processor
#   RANDOM_SEED=100000  the first of them
#   KILLS=200           processes of MPI jobs, at moments drawn from KILL_SEED=1
#   MUTANTS=150         drawn over all folders of our sources, MUTANT_SEED=1
#   JOBS=…              compilers and tests that run concurrently
set -uo pipefail
cd "$(dirname "$0")/.."
parts=("$@")
((${#parts[@]})) || parts=(tsan asan fuzz hostile mutants random targets examples maths mpi mutation tidy bench)
jobs=${JOBS:-$(nproc)}
if [[ ${SIZE:-long} == short ]]; then
  fuzz_seconds=${FUZZ_SECONDS:-10} random_cases=${RANDOM_CASES:-300} sanitized_programs=30
  random_programs=${RANDOM_PROGRAMS:-1200} target_programs=${TARGET_PROGRAMS:-40}
  mutants=${MUTANTS:-20}
  export RUNS=${RUNS:-3} OPERATIONS=${OPERATIONS:-5000} TORTURE=${TORTURE:-100}
else
  fuzz_seconds=${FUZZ_SECONDS:-600} random_cases=${RANDOM_CASES:-5000} sanitized_programs=300
  random_programs=${RANDOM_PROGRAMS:-50000} target_programs=${TARGET_PROGRAMS:-2000}
  mutants=${MUTANTS:-150}
fi

configure_and_build() {  # configure_and_build PRESET TARGET…
  local preset=$1
  shift
  cmake --preset "$preset" && cmake --build "build-$preset" -j "$jobs" --target "$@"
}

build_here() {  # build_here TARGET…: in build/, as it is configured
  [[ -f build/build.ninja ]] || cmake --preset release || return
  cmake --build build -j "$jobs" --target "$@"
}

# Native code, its threads and what calls it, under each sanitizer.
native_tests=(test_support test_ir test_runtime test_passes test_check test_backend test_driver)

# under_sanitizer PRESET FILTER: each folder's tests in one process, then random programs.
under_sanitizer() {
  local preset=$1 filter=$2 target failed=0
  configure_and_build "$preset" "${native_tests[@]}" random_programs || return
  export XDG_CACHE_HOME=$PWD/build-$preset/test_cache
  for target in "${native_tests[@]}"; do
    echo "-- $target"
    "build-$preset/bin/$target" --gtest_brief=1 --gtest_filter="-$filter" || failed=1
  done
  echo "-- random programs"
  "build-$preset/bin/random_programs" --seed 1 --count "$sanitized_programs" || failed=1
  return $failed
}

# Not under the thread sanitizer: signals that it takes itself, or that it hands on too late to a child that is to end by them,
# and pages that are mapped anew in a handler, which it sees as racing writes. Under neither: what takes time.
# Then tapc itself, where the executor meets others: messages, kept results, recorded times.
run_tsan() {
  local failed=0 test
  export TSAN_OPTIONS="suppressions=$PWD/tests/sanitized_races.txt"
  under_sanitizer tsan \
    '*MappedFile.E11*:*MappedFileDeathTest*:*SignalsDeathTest*:WriteFile.Interruption*:*Speed*:*ExponentialGrowth*:*OneDeviceOfAMillion*' || failed=1
  configure_and_build tsan tapc tapc_mpi_openmpi || return
  for test in "${tests_with_races[@]}"; do
    echo "-- $test"
    # shellcheck disable=SC2086 # a file and the name of a test
    set -- $test
    /usr/bin/python3 "tests/process/$1.py" build-tsan/bin/tapc "$2" || failed=1
  done
  return $failed
}
# What runs long, and no faster with threads, is left out.
tests_with_races=("mpi_test Mpi.test_shardings_of_floats" "mpi_test Mpi.test_halos" "mpi_test Mpi.test_outputs_in_every_way" "mpi_test Mpi.test_io_root_reads_inputs_for_all"
  "resume_test Resume.test_h03_only_what_is_missing_is_computed" "resume_test Resume.test_h03_an_iterate_continues"
  "resume_test Resume.test_h04_damaged_results" "resume_test Resume.test_with_metrics"
  "metrics_test Metrics.test_each_task_of_the_schedule" "metrics_test Metrics.test_processes_do_the_same_as_threads" "metrics_test Metrics.test_messages"
  "reshard_test Reshard.test_files_of_processes")

# As in .ci/run, which runs what reads untrusted bytes and what proves, without native code, and each test in a process of its
# own: a child that ends by a signal while others' threads run is not this sanitizer's strength.
run_asan() {
  LSAN_OPTIONS="suppressions=$PWD/tests/sanitized_leaks.txt:print_suppressions=0" ASAN_OPTIONS=handle_sigbus=0 \
    UBSAN_OPTIONS=print_stacktrace=1 under_sanitizer asan-backend '*DeathTest*:*Speed*:*ExponentialGrowth*'
}

# Every target from its kept corpus. What it finds is in out/campaign/corpus, crashes beside it as NAME-crash-….
run_fuzz() {
  configure_and_build fuzz fuzz_targets || return
  local target name failed=0
  for target in build-fuzz/bin/fuzz_*; do
    name=$(basename "$target" | sed s/fuzz_//)
    mkdir -p "out/campaign/corpus/$name"
    echo "-- fuzz_$name for $fuzz_seconds s"
    "$target" -max_total_time="$fuzz_seconds" -timeout=25 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
      -artifact_prefix="out/campaign/$name-" "out/campaign/corpus/$name" "tests/fuzz/corpus/$name" || failed=1
  done
  return $failed
}

# Malformed texts of stages and plans, in as many parts as there are jobs.
run_hostile() {
  build_here tapc || return
  local texts=2000 part failed=0 pids=()
  [[ ${SIZE:-long} == short ]] && texts=50
  for ((part = 0; part < jobs; ++part)); do
    /usr/bin/python3 tests/process/hostile_stages_test.py build/bin/tapc --texts "$texts" --seed $((part + 1)) \
      --keep out/campaign/hostile >"out/campaign/hostile-$part.log" 2>&1 &
    pids+=($!)
  done
  for part in "${!pids[@]}"; do
    wait "${pids[$part]}" || failed=1
    cat "out/campaign/hostile-$part.log"
  done
  return $failed
}

# In as many parts as there are jobs; each prints its seed and its coverage.
many_random_programs() {
  local each=$((($1 + jobs - 1) / jobs)) part failed=0 pids=()
  for ((part = 0; part < jobs; ++part)); do
    build/bin/random_programs --count "$each" --seed $((${RANDOM_SEED:-100000} + part * each)) --keep-going yes >"out/campaign/random-$part.log" 2>&1 &
    pids+=($!)
  done
  for part in "${!pids[@]}"; do
    wait "${pids[$part]}" || failed=1
    cat "out/campaign/random-$part.log"
  done
  return $failed
}

# Changed certificates, block graphs and schedules: refused, or they compute the same.
run_mutants() {
  build_here test_check test_driver || return
  local times=20
  [[ ${SIZE:-long} == short ]] && times=2
  TAP_TRIES=$times build/bin/test_check --gtest_brief=1 --gtest_filter='Mutation*:Alternatives*' &&
    TAP_TRIES=$times build/bin/test_driver --gtest_brief=1 --gtest_filter='StageMutation*'
}

# The property tests, with many more cases each. Their names are read from the sources.
run_random() {
  build_here test_ir test_frontend test_passes test_backend test_driver random_programs random_plans || return
  local folder filter failed=0
  for folder in ir frontend passes backend; do
    filter=$(awk 'FNR == 1 { test = "" } /^TEST\(/ { test = $0 } /^RC_GTEST_PROP\(/ { print } /rc::check/ { print test }' \
      "tests/$folder"/*_test.cpp | sed -E 's/^\w+\((\w+), *(\w+).*/\1.\2/' | sort -u | paste -sd:)
    [[ -n $filter ]] || continue
    echo "-- tests/$folder"
    RC_PARAMS="max_success=$random_cases" "build/bin/test_$folder" --gtest_brief=1 --gtest_filter="$filter" || failed=1
  done
  echo "-- every family of kernels at all sizes"
  TAP_ALL_SIZES=1 build/bin/test_driver --gtest_brief=1 --gtest_filter='*EdgeSizes*' || failed=1
  echo "-- random programs under random plans"
  many_random_programs "$random_programs" || failed=1
  echo "-- every standard operator and example under random plans"
  build/bin/random_plans --plans "$((random_cases / 125 + 1))" --seed 100000 examples || failed=1
  echo "-- every standard operator and example under random shardings"
  build/bin/random_plans --plans 0 --shardings "$((random_cases / 100 + 1))" --seed 100000 examples || failed=1
  echo "-- planted bugs"
  /usr/bin/python3 tests/planted/bugs.py build || failed=1
  /usr/bin/python3 tests/planted/bugs.py build --self-check || failed=1
  return $failed
}

# Random programs as code for other processors: one without AVX-512, and aarch64 under qemu.
run_targets() {
  build_here tapc random_programs || return
  local target failed=0
  for target in x86-64-v3 aarch64; do
    /usr/bin/python3 tests/random/other_targets.py build/bin/tapc build/bin/random_programs . --target "$target" \
      --seed "${RANDOM_SEED:-100000}" --count "$target_programs" || failed=1
  done
  return $failed
}

# Examples at the sizes that they declare, natively and by the interpreter: every cell within its bound.
run_examples() {
  build_here compare_engines tapc || return
  local work=out/campaign failed=0 example
  cc -std=c11 -O1 -shared -fPIC examples/smooth.c -o "$work/smooth.so" || return
  local full=("heat" "nearest" "recurrence" "smooth --kernels $work/smooth.so" "mttkrp l=100 m=100 n=100"
    "transformer layers=4 n=64 model=128 heads=4 d=32 wide=256")
  local small=("heat n=16 steps=4" "nearest points=500 queries=20" "recurrence n=64 d=32"
    "smooth --kernels $work/smooth.so n=64 m=64" "mttkrp l=20 m=20 n=20" "transformer layers=2 n=8 model=16 heads=2 d=8 wide=32")
  [[ ${SIZE:-long} == short ]] && full=("${small[@]}")
  local every=1 engine
  [[ ${SIZE:-long} == short ]] && every=24
  for engine in native mlir; do  # `make test` takes every 12th and 24th case of an operator
    echo "-- every standard operator against NumPy: $engine"
    /usr/bin/python3 tests/numpy/run.py build/bin/tapc --engine "$engine" --every "$every" || failed=1
  done
  for example in "${full[@]}"; do
    # shellcheck disable=SC2086 # words of its own
    set -- $example
    build/bin/compare_engines "examples/$1.tap" "${@:2}" || failed=1
  done
  return $failed
}

# Errors of the native functions: every float, and millions of doubles.
run_maths() {
  build_here bench_maths || return
  if [[ ${SIZE:-long} == short ]]; then build/bin/bench_maths --points 1000000; else build/bin/bench_maths --all --points 20000000; fi
}

# Processes that are killed at random moments; and MPICH, where `mpicc.mpich` was installed when the build was configured.
run_mpi() {
  local kills=200 resumed=50 drawn=50 failed=0 test
  [[ ${SIZE:-long} == short ]] && kills=20 resumed=6 drawn=6
  build_here all || return
  /usr/bin/python3 tests/process/mpi_kill_test.py build/bin/tapc --kills "${KILLS:-$kills}" --seed "${KILL_SEED:-1}" || failed=1
  /usr/bin/python3 tests/process/resume_test.py build/bin/tapc --kills "$resumed" --seed "${KILL_SEED:-1}" || failed=1
  /usr/bin/python3 tests/process/mpi_test.py build/bin/tapc --minutes 1 Mpi.test_h02_by_default_a_process_hangs_for_a_minute || failed=1
  /usr/bin/python3 tests/process/random_jobs_test.py build/bin/tapc build/bin/random_jobs --plans "$drawn" --shardings "$drawn" \
    --seed "${RANDOM_SEED:-100000}" --ranks 4 || failed=1
  if [[ ! -f build/bin/libtapc_mpi_mpich.so ]]; then
    echo "no MPICH: install mpich, and configure again"
    return $failed
  fi
  for test in mpi mpi_compiled metrics mpi_kill resume; do
    TAP_MPI=mpich /usr/bin/python3 "tests/process/${test}_test.py" build/bin/tapc || failed=1
  done
  TAP_MPI=mpich /usr/bin/python3 tests/process/random_jobs_test.py build/bin/tapc build/bin/random_jobs --plans "$drawn" \
    --shardings "$drawn" --seed "${RANDOM_SEED:-100000}" --ranks 8 || failed=1
  return $failed
}

# Faults put into our own sources: nine in ten must be caught by some test.
run_mutation() {
  /usr/bin/python3 tests/mutation/mutants.py --count "$mutants" --seed "${MUTANT_SEED:-1}" --jobs "$jobs" --work out/campaign/mutation
}

# All sources with the static analyzer; in short some of them.
run_tidy() {
  if [[ ${SIZE:-long} == short ]]; then MOST=4 scripts/tidy.sh HEAD~5; else scripts/tidy.sh --all; fi
}

run_bench() {
  build_here tapc bench_compiler && RANDOM_CASES=${TORTURE:-1000} scripts/bench.sh
}

mkdir -p out/campaign
failed=()
for part in "${parts[@]}"; do
  begin=$SECONDS
  if [[ $(type -t "run_$part") != function ]]; then
    echo "unknown part \`$part\`" >&2
    exit 2
  fi
  if "run_$part" >"out/campaign/$part.log" 2>&1; then verdict=passed; else verdict=FAILED failed+=("$part"); fi
  printf '%-7s %s after %d s, see out/campaign/%s.log\n' "$part" "$verdict" $((SECONDS - begin)) "$part"
done
if ((${#failed[@]})); then
  echo "campaign failed: ${failed[*]}"
  exit 1
fi
echo "campaign passed: ${parts[*]}"
