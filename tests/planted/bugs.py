#!/usr/bin/python3
"""Bugs planted in the passes, one at a time: 300 random programs must catch each of them.

    bugs.py BUILD_FOLDER             compiles each changed file, links random_programs with it and runs that; for `make campaign`
    bugs.py --check                  only looks whether every bug still fits its file

Each is a small change of one source file, as somebody could really make it. The changed file is compiled beside the build,
and the linker takes it before the library; the build folder stays as it is.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# What it is, the file, what stands there, what the bug has in its place.
BUGS = [
    ("the last partial is not combined", "passes/cut.cpp",
     "combination.dims.push_back({number_dim.name, number_dim.range, DimRole::reduction});",
     "combination.dims.push_back({number_dim.name, {0, std::max<std::int64_t>(1, number_dim.range.hi - 1)}, DimRole::reduction});"),
    ("a reduction outside of one that does not commute is cut", "passes/cut.cpp",
     "if (commutative == Law::proved || commutative == Law::assumed) continue;",
     "if (commutative != Law::unknown) continue;"),
    ("partials are placed where the combination is", "passes/split_graph.cpp",
     "if (p.dim != whole_operation) combination.placements.back().dim = parts.dim_in_combination[p.dim];", ""),
    ("the carry takes in the block itself", "passes/cut_scan.cpp", "apart.offset = -1;", "apart.offset = 0;"),
    ("the carry is combined from the wrong side", "passes/cut_scan.cpp", "(earlier == forward_ ? 0 : arity)",
     "(earlier != forward_ ? 0 : arity)"),
    ("where an exclusive scan is cut is shifted the other way", "passes/cut_scan.cpp",
     "shift_ = forward_ ? c.expr.offset : -c.expr.offset;", "shift_ = forward_ ? -c.expr.offset : c.expr.offset;"),
    ("totals are those of the block before", "passes/cut_scan.cpp",
     "std::int64_t edge = checked::add(blocks_.block(along, r).lo, shift_);",
     "std::int64_t edge = checked::add(blocks_.block(along, r - 1).lo, shift_);"),
    ("a scan that runs backwards carries forwards", "passes/cut_scan.cpp", "if (!forward_) apart = scale(apart, -1);",
     ""),
    ("blocks that write the same cells do so at a time", "backend/turns.cpp",
     "if (again.empty()) return {tasks};", "return {tasks};"),
    ("a transfer is forgotten where blocks do not agree", "passes/realise.cpp", "held.cuts != wanted.cuts", "false"),
    ("a halo counts as the cell itself", "passes/realise.cpp",
     "hold.one_to_one = row.as_variable().has_value() && access.projection.shape[axis] == 1;",
     "hold.one_to_one = true;"),
    ("a transfer for one reader serves another", "passes/realise.cpp",
     "if (made.op == operation.op && made.operands == operation.operands && made.placements == operation.placements)",
     "if (made.operands == operation.operands)"),
    ("what is written the other way round is read as it stands", "passes/compose.cpp", "dims[d] = scale(cell, sign);",
     "dims[d] = cell;"),
    ("where a result begins is added, not taken away", "passes/compose.cpp", "cell.offset = -rows[axis].offset;",
     "cell.offset = rows[axis].offset;"),
    ("a fill is lost when maps are composed", "passes/compose.cpp",
     "auto inside = fill ? is_inside(place, type.shape) : std::nullopt;", "auto inside = std::optional<CellId>();"),
    ("the last cell takes no fill", "passes/compose.cpp", "if (values.hi > shape[axis])",
     "if (values.hi > shape[axis] + 1)"),
    ("a composed value is not rounded", "passes/compose.cpp",
     "bool exact = !is_float(type) || type == ElementType::f64", "bool exact = true || type == ElementType::f64"),
    ("a reduction of two points is its first", "passes/reduce_once.cpp", "one &= dim.range.size() == 1;",
     "one &= dim.range.size() <= 2;"),
    ("any map of one read of equal shape is a copy", "passes/simplify_graph.cpp",
     "read.projection == write.projection;", "read.projection.rank() == write.projection.rank();"),
    ("every operand of a call is the first", "passes/inline_calls.cpp",
     "inner.values[v] = frame.values[call.operands[k].index()];",
     "inner.values[v] = frame.values[call.operands[0].index()];"),
    ("a % 7 is a % 1", "passes/cell_rules.def", 'TAP_CELL_RULE("a % 1 = 0 [integers]")',
     'TAP_CELL_RULE("a % 7 = 0 [integers]")'),
    ("the first is the greater", "passes/cell_rules.def", "max(a, a) = a [integers, floats]",
     "max(a, b) = a [integers, floats]"),
    ("a device does the next one's block", "ir/device_places.cpp",
     "intersect(box.dims[p.dim], Range{*at, *at + 1})", "intersect(box.dims[p.dim], Range{*at + 1, *at + 2})"),
    ("a transfer takes what its device held, whatever was asked for", "passes/expand.cpp",
     "!left.empty() && !disjoint(result_[holders[0]].box, need)",
     "!left.empty() && disjoint(result_[holders[0]].box, need)"),
    ("memory is given back a batch too early", "backend/plan_memory.cpp", "it->first < buffer.first;",
     "it->first <= buffer.first;"),
    ("a batch reads what it still writes", "backend/schedule_tasks.cpp",
     "  for (BufferId id : reads)\n    if (by_others(written_, id)) return false;\n", ""),
    ("an output takes no more than its first part", "backend/schedule.cpp", "    left = std::move(rest);\n  };",
     "    left.clear();\n  };"),
    ("every written-out step counts like the first", "passes/unroll.cpp",
     "{Range{0, trips_.size() / steps_}, steps_, trips_.lo + s}",
     "{Range{0, trips_.size() / steps_}, steps_, trips_.lo}"),
    ("the steps that are left over count from the start", "passes/unroll.cpp",
     "CounterReplacement counter(program_, {std::nullopt, 1, trip});",
     "CounterReplacement counter(program_, {std::nullopt, 1, region_.trips.lo});"),
]

INCLUDED_BY = {"passes/cell_rules.def": "passes/cell_rule_table.cpp"}


def changed_text(file, old, new):
    with open(os.path.join(ROOT, file), encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        raise SystemExit(f"{file}: `{old}` stands there {text.count(old)} times")
    return text.replace(old, new)


def commands(build, *targets):
    """The shell commands that make the targets, as ninja would run them."""
    done = subprocess.run(["ninja", "-C", build, "-t", "commands", *targets], capture_output=True, text=True,
                          check=True)
    return [line for line in done.stdout.splitlines() if line]


class Planter:
    def __init__(self, build, folder):
        self.build, self.folder = os.path.abspath(build), folder
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            self.compile = {os.path.relpath(e["file"], os.path.abspath(ROOT)): e["command"] for e in json.load(f)}
        self.link = commands(build, "bin/random_programs")[-1]

    def run(self, command):
        done = subprocess.run(command, shell=True, cwd=self.build, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{command}\n{done.stdout}{done.stderr}")

    def plant(self, file, old, new):
        """The program with the bug."""
        source, folder = file, self.folder
        text = changed_text(file, old, new)
        if file.endswith(".def"):  # found by its includer before the real one
            source = INCLUDED_BY[file]
            shadow = os.path.join(folder, "include", file)
            os.makedirs(os.path.dirname(shadow), exist_ok=True)
            with open(shadow, "w", encoding="utf-8") as f:
                f.write(text)
            with open(os.path.join(ROOT, source), encoding="utf-8") as f:
                text = f.read()
        changed = os.path.join(folder, os.path.basename(source))
        with open(changed, "w", encoding="utf-8") as f:
            f.write(text)
        made = os.path.join(folder, "planted.o")
        command = re.sub(r" -o \S+", f" -o {shlex.quote(made)}", self.compile[source])
        command = re.sub(r" -c \S+$", f" -c {shlex.quote(changed)}", command)
        command = command.replace(" -I", f" -I{shlex.quote(os.path.join(folder, 'include'))} -I", 1)
        self.run(command)
        program = os.path.join(folder, "random_programs")
        link = re.sub(r" -o \S+", f" {shlex.quote(made)} -o {shlex.quote(program)}", self.link, count=1)
        self.run(link)
        return program


def verdict(program):
    done = subprocess.run([program, "--count", "300", "--reduce", "no"], capture_output=True, text=True, timeout=1200)
    found = re.search(r"^seed \d+: (.*)", done.stdout, re.M)
    if done.returncode == 0 or not found:
        return None
    return found.group(0)


def main():
    if sys.argv[1:] == ["--check"]:
        for _, file, old, new in BUGS:
            changed_text(file, old, new)
            if file in INCLUDED_BY:
                changed_text(INCLUDED_BY[file], f'#include "{file}"', "")
        print(f"{len(BUGS)} bugs fit")
        return 0
    missed = 0
    for what, file, old, new in BUGS:
        with tempfile.TemporaryDirectory() as folder:
            caught = verdict(Planter(sys.argv[1], folder).plant(file, old, new))
        missed += caught is None
        print(f"{what}: {caught[:160] if caught else 'NOT CAUGHT'}", flush=True)
    print(f"{len(BUGS) - missed} of {len(BUGS)} bugs caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
