# make demo | test | build | report | package | campaign | bench | format | lint | tidy | clean | install-deps
#
# Two variables: PRESET (release, dev, ci, asan, tsan; see CMakePresets.json) and JOBS.
PRESET ?= release
JOBS ?= $(shell nproc)
BUILD := $(if $(filter asan asan-backend tsan fuzz,$(PRESET)),build-$(PRESET),build)
TAPC := $(BUILD)/bin/tapc

.DEFAULT_GOAL := build
.PHONY: build all test demo report package campaign bench format format-check lint tidy clean install-deps configure

install-deps:
	@scripts/install-deps.sh

configure: install-deps
	@cmake --preset $(PRESET) > $(BUILD).configure.log 2>&1 || { cat $(BUILD).configure.log; exit 1; }

# The compiler and its checker alone, at build/bin/tapc and build/bin/tapc-check.
build: configure
	cmake --build $(BUILD) -j $(JOBS) --target tapc

# Everything that is tested: one full build.
all: configure
	cmake --build $(BUILD) -j $(JOBS)

test: all
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

# The page of `tapc inspect -o report.html`, after a change in report/src.
report: install-deps
	scripts/build_report.sh

demo: build
	@TAPC=$(TAPC) scripts/demo.sh

# A .deb and a tarball in build/packages, which run on a Debian 12 as it is (cmake/package.cmake).
package: build
	cpack --config $(BUILD)/CPackConfig.cmake

# The long runs: thread and address sanitizers with native code, long fuzzing, many random programs, benchmarks. Hours;
# SIZE=short takes minutes, PARTS="fuzz bench" only some (scripts/campaign.sh).
campaign: configure
	JOBS=$(JOBS) scripts/campaign.sh $(PARTS)

# RUNS, OPERATIONS and RANDOM_CASES make it shorter (scripts/bench.sh).
bench: configure
	cmake --build $(BUILD) -j $(JOBS) --target tapc bench_compiler
	@BUILD=$(BUILD) scripts/bench.sh

format:
	scripts/format.sh

format-check:
	scripts/format.sh --check

lint:
	/usr/bin/python3 scripts/lint_includes.py
	/usr/bin/python3 scripts/lint_names.py
	/usr/bin/python3 scripts/lint_words.py

# Sources that changed since BASE; scripts/tidy.sh --all takes all.
tidy:
	scripts/tidy.sh $(BASE)

clean:
	rm -rf build build-asan build-asan-backend build-tsan build-fuzz build-tidy *.configure.log out
