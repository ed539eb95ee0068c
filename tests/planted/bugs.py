#!/usr/bin/python3
"""Bugs planted in the passes, one at a time: 3,000 random programs must catch each of them.

    bugs.py BUILD_FOLDER             compiles each changed file, links random_programs with it and runs that; for `make campaign`
    bugs.py BUILD_FOLDER --self-check    bugs in lowering and emission, which the self-check of kernels alone must catch: links
                                     self_check_kernels, which runs nothing but that
    bugs.py --check                  only looks whether every bug still fits its file

Each is a small change of one source file, as somebody could really make it. The changed file, or the unity source that includes
it, is compiled beside the build, and the linker takes it before the library; the build folder stays as it is.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Partial vectors are stored under a mask where there are registers for masks, else in parts: by other code.
with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
    MASK_REGISTERS = "avx512vl" in cpuinfo.read()

# What it is, the file, what stands there, what the bug has in its place; and whether this processor gets to the place, if not all do.
BUGS = [
    ("the last partial is not combined", "passes/splits/split_operator.cpp",
     "combination.dims.push_back({number_dim.name, number_dim.range, DimRole::reduction});",
     "combination.dims.push_back({number_dim.name, {0, std::max<std::int64_t>(1, number_dim.range.hi - 1)}, DimRole::reduction});"),
    ("a reduction outside of one that does not commute is cut", "passes/splits/split_operator.cpp",
     "if (monoid.laws.commutative == Law::proved || monoid.laws.commutative == Law::assumed) continue;",
     "if (monoid.laws.commutative != Law::unknown) continue;"),
    ("partials are placed where the combination is", "passes/splits/split_graph.cpp",
     "if (p.dim != whole_operation) combination.placements.back().dim = parts.dim_in_combination[p.dim];", ""),
    ("the carry takes in the block itself", "passes/splits/split_scan.cpp", "distance.offset = -1;", "distance.offset = 0;"),
    ("the carry is combined from the wrong side", "passes/splits/split_scan.cpp", "(earlier == forward_ ? 0 : arity)",
     "(earlier != forward_ ? 0 : arity)"),
    ("where an exclusive scan is cut is shifted the other way", "passes/splits/split_scan.cpp",
     "shift_ = forward_ ? c.expr.offset : -c.expr.offset;", "shift_ = forward_ ? -c.expr.offset : c.expr.offset;"),
    ("totals are those of the block before", "passes/splits/split_scan.cpp",
     "std::int64_t edge = checked::add(blocks_.block(along, r).lo, shift_);",
     "std::int64_t edge = checked::add(blocks_.block(along, r - 1).lo, shift_);"),
    ("a scan that runs backwards carries forwards", "passes/splits/split_scan.cpp", "if (!forward_) distance = scale(distance, -1);",
     ""),
    ("blocks that write the same cells do so at a time", "backend/schedule/conflicting_writes.cpp",
     "if (shared.empty()) return {tasks};", "return {tasks};"),
    ("a transfer is forgotten where blocks do not agree", "passes/splits/realise.cpp", "held.splits != required.splits", "false"),
    ("a halo counts as the cell itself", "passes/splits/realise.cpp",
     "result.one_to_one = row.as_variable().has_value() && access.projection.shape[axis] == 1;",
     "result.one_to_one = true;"),
    ("a transfer for one reader serves another", "passes/splits/realise.cpp",
     "if (made.op == operation.op && made.operands == operation.operands && made.placements == operation.placements)",
     "if (made.operands == operation.operands)"),
    ("what is written the other way round is read as it stands", "passes/simplify/compose.cpp", "dims[d] = scale(cell, sign);",
     "dims[d] = cell;"),
    ("where a result begins is added, not taken away", "passes/simplify/compose.cpp", "cell.offset = -rows[axis].offset;",
     "cell.offset = rows[axis].offset;"),
    ("a fill is lost when maps are composed", "passes/simplify/compose.cpp",
     "auto inside = fill ? is_inside(composed, type.shape) : std::nullopt;", "auto inside = std::optional<CellId>();"),
    ("the last cell takes no fill", "passes/simplify/compose.cpp", "if (values.hi > shape[axis])",
     "if (values.hi > shape[axis] + 1)"),
    ("a composed value is not rounded", "passes/simplify/compose.cpp",
     "bool exact = !is_float(type) || type == ElementType::f64", "bool exact = true || type == ElementType::f64"),
    ("a reduction of two points is its first", "passes/simplify/reduce_once.cpp", "one &= dim.range.size() == 1;",
     "one &= dim.range.size() <= 2;"),
    ("any map of one read of equal shape is a copy", "passes/simplify/simplify_graph.cpp",
     "read.projection == write.projection;", "read.projection.rank() == write.projection.rank();"),
    ("every operand of a call is the first", "passes/simplify/inline_calls.cpp",
     "inner.values[v] = frame.values[call.operands[k].index()];",
     "inner.values[v] = frame.values[call.operands[0].index()];"),
    ("a % 7 is a % 1", "passes/simplify/cell_rules.def", 'TAP_CELL_RULE("a % 1 = 0 [integers]")',
     'TAP_CELL_RULE("a % 7 = 0 [integers]")'),
    ("the first is the greater", "passes/simplify/cell_rules.def", "max(a, a) = a [integers, floats]",
     "max(a, b) = a [integers, floats]"),
    ("a device does the next one's block", "ir/shardings/device_assignment.cpp",
     "intersect(box.dims[p.dim], Range{*at, *at + 1})", "intersect(box.dims[p.dim], Range{*at + 1, *at + 2})"),
    ("a transfer takes what its device held, whatever was asked for", "passes/splits/expand.cpp",
     "!left.empty() && !disjoint(result_[holders[0]].box, need)",
     "!left.empty() && disjoint(result_[holders[0]].box, need)"),
    ("memory is given back a batch too early", "backend/schedule/plan_memory.cpp", "it->first < lifetimes[b].first;",
     "it->first <= lifetimes[b].first;"),
    ("a batch reads what it still writes", "backend/schedule/schedule_tasks.cpp",
     "  for (BufferId id : reads)\n    if (by_others(written_, id)) return false;\n", ""),
    ("an output takes no more than its first part", "backend/schedule/gather.cpp", "    left = std::move(rest);\n  };",
     "    left.clear();\n  };"),
    ("every written-out step counts like the first", "passes/fusion/unroll.cpp",
     "{Range{0, trips_.size() / steps_}, steps_, trips_.lo + s}",
     "{Range{0, trips_.size() / steps_}, steps_, trips_.lo}"),
    ("the steps that are left over count from the start", "passes/fusion/unroll.cpp",
     "CounterReplacement counter(program_, {std::nullopt, 1, trip});",
     "CounterReplacement counter(program_, {std::nullopt, 1, region_.trips.lo});"),
]

# In what makes kernels: each is caught by trying the kernels, before anything of a program runs (backend/trial/self_check.h).
KERNEL_BUGS = [
    ("a tail has one lane too many", "backend/llvm/lane_masks.cpp", "clamped(b, b.CreateNSWSub(end, first), lanes)",
     "clamped(b, b.CreateNSWAdd(b.CreateNSWSub(end, first), b.getInt64(1)), lanes)"),
    ("a tail has one lane too few", "backend/llvm/lane_masks.cpp", "clamped(b, b.CreateNSWSub(end, first), lanes)",
     "clamped(b, b.CreateNSWSub(b.CreateNSWSub(end, first), b.getInt64(1)), lanes)"),
    ("the last cell of each panel is not packed", "backend/lower/lower_fills.cpp",
     "plus(variable(along.panels->first), number(along.step))), bound(variable(along.block->end))",
     "plus(variable(along.panels->first), number(along.step - 1))), bound(variable(along.block->end))"),
    ("the panels of prepared weights lie too close", "backend/lower/lower_prepared.cpp", "d == along.dim ? c * along.step : c;",
     "d == along.dim ? c * (along.step - 1) : c;"),
    ("the second block of a reduction begins anew", "backend/lower/lower_packed.cpp",
     "{{assign(state.slots, result_cells(monoid, true))}})};", "{{assign(state.slots, identity(monoid))}})};"),
    ("a row in eight is not packed", "backend/lower/lower_fills.cpp", "number(rows_at_once))));", "number(rows_at_once - 1))));"),
    ("rows of different lengths lose the cell behind the shortest", "backend/lower/lower_ragged.cpp",
     "late.lower = {bound(from), bound(end)};", "late.lower = {bound(from), bound(plus(end, number(1)))};"),
    ("rows share the longest of their ranges", "backend/lower/lower_ragged.cpp",
     "const bool first = (c > 0) == upper;", "const bool first = (c > 0) != upper;"),
    ("the last needed cell is not computed", "backend/tiles/needed_ranges.cpp",
     "ranges[d].hi = shifted(rest, 1);", "ranges[d].hi = rest;"),
    ("what the first row needs is all that is computed", "backend/lower/lower_group_steps.cpp",
     "(c > 0) == greatest ? plus(spans_[g].hi, number(-1)) : spans_[g].lo, c);",
     "(c > 0) != greatest ? plus(spans_[g].hi, number(-1)) : spans_[g].lo, c);"),
    ("the last vector of a window's row is not copied", "backend/lower/lower_windows.cpp",
     "const std::int64_t steps = (length + count - 1) / count;",
     "const std::int64_t steps = std::max<std::int64_t>(length / count, 1);"),
    ("stores across end a lane early", "backend/llvm/emit_straight.cpp",
     "b.CreateCondBr(b.CreateExtractElement(s_.lanes->mask, lane), active, done);",
     "b.CreateCondBr(b.CreateExtractElement(s_.lanes->mask, std::min(lane + 1, lanes - 1)), active, done);"),
    ("rows of copied lanes lie too close", "backend/lower/lower_lane_copies.cpp",
     "extent = (extent + tile.lanes - 1) / tile.lanes * tile.lanes;", "extent = extent / tile.lanes * tile.lanes;"),
    ("accumulators begin with what is in the result", "backend/lower/lower_tiles.cpp",
     "across(tile, rows, &lanes, {{assign(state.slots, beginning(monoid))}});",
     "across(tile, rows, &lanes, {{assign(state.slots, can_keep() ? result_cells(monoid, true) : beginning(monoid))}});"),
    ("two lanes change places in stores across", "backend/llvm/emit_transposed.cpp",
     "low[k] = static_cast<int>(second ? count + k - size : k);",
     "low[k] = static_cast<int>(second ? count + k - size : k ^ 2);"),
    ("a read beyond the first axis takes no fill", "backend/llvm/emit_straight.cpp",
     "if (!load.at[axis].checked) continue;", "if (!load.at[axis].checked || axis == 0) continue;"),
    ("the last step of a reduction is left out", "backend/lower/lower.cpp", "if (!one) return variable(frame_.hi[dim]);",
     "if (!one) return plus(variable(frame_.hi[dim]), number(op_.dims[dim].role == DimRole::reduction ? -1 : 0));"),
    ("bf16 is cut off, not rounded", "backend/llvm/emit_convert.cpp", "b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, rounded)",
     "b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, high)"),
    ("tails are stored without their mask", "backend/llvm/emit_straight.cpp",
     "Value* mask = s_.lanes->mask;", "Value* mask = location.dense ? nullptr : s_.lanes->mask;"),
    ("a prefetch is a store", "backend/llvm/emit_statements.cpp",
     "b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},\n"
     "                     {address, b_.getInt32(to_read), b_.getInt32(prefetch.near ? first : second), b_.getInt32(data)});",
     "b_.CreateStore(b_.getInt32(static_cast<std::uint32_t>(to_read + second + first + data)), address);"),
    ("a conversion does not saturate", "backend/llvm/emit_convert.cpp",
     "  result = b.CreateSelect(above, number(type, greatest_integer(to)), result);\n", ""),
    ("the rows that are left over are one too few", "backend/lower/lower_tiles.cpp",
     "add(end, static_cast<std::uint32_t>(size % step), true);",
     "add(plus(end, number(-1)), std::max(1u, static_cast<std::uint32_t>(size % step) - 1), true);"),
    ("the first half of the lanes counts twice", "backend/llvm/emit_folds.cpp",
     "slots[fold.second[k]] = part(now[k], lanes, lanes);", "slots[fold.second[k]] = part(now[k], 0, lanes);"),
    ("the first half of the lanes of several rows counts twice", "backend/llvm/emit_folds.cpp",
     "high.push_back(low.back() + static_cast<int>(each_ / 2));", "high.push_back(low.back());"),
    ("a merged dim ends a row early", "backend/lower/merged_dims.cpp", "end.offset -= inside;", "end.offset -= inside * (k == 0 ? 2 : 1);"),
    ("a shift in a merged dim counts cells, not rows", "backend/lower/merged_dims.cpp",
     "scale(rows[pair->second], inside[pair->second]);", "scale(rows[pair->second], 1);"),
    ("the last row of an image is not unfolded", "backend/lower/lower_unfolded.cpp", "(c > 0 ? hi : lo).offset -= c;",
     "(c > 0 ? hi : lo).offset -= c * (row.as_variable() ? 1 : 2);"),
    ("unfolded rows lie too close", "backend/lower/unfolded_windows.cpp",
     "at[last].coefficients[last - 1] = written.shape[last];", "at[last].coefficients[last - 1] = written.shape[last] - 1;"),
    ("dims of unlike accesses are merged", "backend/lower/merging.cpp",
     "return outer && inner && member.inner[*outer] == inner &&\n           is_whole(member, rows[axes.inner], types_[tensor].shape[axes.inner]);",
     "return outer && inner && member.inner[*outer] == inner;"),
    ("a window is copied from one cell further", "backend/lower/lower_windows.cpp",
     "outside.at[axis].affine = plus(first, variable(nest.back().variable));",
     "outside.at[axis].affine = plus(plus(first, number(1)), variable(nest.back().variable));"),
    ("an exact store has a lane too many", "backend/llvm/passes/exact_masks.cpp", "std::bit_floor(end - lane)", "std::bit_ceil(end - lane)",
     MASK_REGISTERS),
    ("the lanes that remain are those already stored", "backend/llvm/emit_leading.cpp",
     "rest_ = merged(low, before, high, stores);", "rest_ = merged(low, before, low, stores);", not MASK_REGISTERS),
    ("a scan does not begin with what lies before", "backend/lower/lower_patterns.cpp",
     "  loops.begin.push_back({std::move(before)});\n", ""),
    ("a step of a scan begins with what is in its own place", "backend/lower/lower_patterns.cpp",
     "c.affine = shifted(c.affine, i, descending ? 1 : -1);", "c.affine = shifted(c.affine, i, 0);"),
    ("a scan admits the point behind its bound", "backend/lower/lower_patterns.cpp",
     "admitted.descending ? moving.expr : plus(moving.expr, number(-1));", "moving.expr;"),
    ("rows of a scan share one accumulator", "backend/lower/lower_patterns.cpp",
     "tile ? at(monoid, all, tile_number(*tile)) : all;", "tile ? at(monoid, all, number(0)) : all;"),
    ("all operations of a tile begin a point late", "backend/lower/lower_group_steps.cpp",
     "DimSpan part{first, plus(first, number(points)), points,", "DimSpan part{plus(first, number(1)), plus(first, number(points)), points,"),
    ("the inside of a map's rows ends a cell late", "backend/lower/lower_map_tiles.cpp",
     "plus(above, number(step))", "plus(above, number(2 * step))"),
    ("rows at an edge count as inside", "backend/lower/lower_map_tiles.cpp",
     "plus(end, outside, dim.range.size())", "plus(end, outside, 0)"),
    ("rows computed together are inside where the first one is", "backend/lower/lower_map_tiles.cpp",
     "number(rows->count - 1), by_row", "number(0), by_row"),
    ("repeated rows are a cell apart", "backend/lower/lower_repeated_rows.cpp",
     "plus(variable(frame_.at[tile.dim]), variable(each.variable), length)", "plus(variable(frame_.at[tile.dim]), variable(each.variable), length - 1)"),
    ("every block of steps begins anew", "backend/lower/lower_step_blocks.cpp",
     "begin_tile(tile, rows, lanes, state, &steps, along)", "begin_tile(tile, rows, lanes, state, nullptr, along)"),
]

INCLUDED_BY = {"passes/simplify/cell_rules.def": "passes/simplify/cell_rule_table.cpp"}


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
    def __init__(self, build, folder, program="random_programs"):
        self.build, self.folder, self.program = os.path.abspath(build), folder, program
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            compiled = {e["file"]: e["command"] for e in json.load(f)}
        self.root = os.path.abspath(ROOT)
        self.compile, self.unity = {}, {}  # by source: its command, and the unity source that includes it
        for file, command in compiled.items():
            self.compile[os.path.relpath(file, self.root)] = command
            if "/Unity/" not in file:
                continue
            with open(file, encoding="utf-8") as f:
                for included in re.findall(r'^#include "(.*)"$', f.read(), re.M):
                    self.unity[os.path.relpath(included, self.root)] = file
        self.link = commands(build, f"bin/{program}")[-1]

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
        if source in self.unity:
            unity = self.unity[source]
            with open(unity, encoding="utf-8") as f:
                text = f.read().replace(f'#include "{os.path.join(self.root, source)}"', f'#include "{changed}"')
            source, changed = os.path.relpath(unity, self.root), os.path.join(folder, "unity.cxx")
            with open(changed, "w", encoding="utf-8") as f:
                f.write(text)
        made = os.path.join(folder, "planted.o")
        command = re.sub(r" -o \S+", f" -o {shlex.quote(made)}", self.compile[source])
        command = re.sub(r" -c \S+$", f" -c {shlex.quote(changed)}", command)
        command = command.replace(" -I", f" -I{shlex.quote(os.path.join(folder, 'include'))} -I", 1)
        self.run(command.replace(" -Werror", ""))  # a bug may leave a variable unused
        program = os.path.join(folder, self.program)
        link = re.sub(r" -o \S+", f" {shlex.quote(made)} -o {shlex.quote(program)}", self.link, count=1)
        self.run(link)
        return program


def verdict(program):
    done = subprocess.run([program, "--count", "3000", "--reduce", "no"], capture_output=True, text=True, timeout=1200)
    found = re.search(r"^seed \d+: (.*)", done.stdout, re.M)
    if done.returncode == 0 or not found:
        return None
    return found.group(0)


def verdict_of_self_check(program):
    """What the self-check says of the first kernel that it refuses. That a kernel takes the process down with it counts, too."""
    done = subprocess.run([program], capture_output=True, text=True, timeout=1200)
    found = re.search(r"^.*the self-check rejects.*", done.stdout, re.M)
    if found:
        return found.group(0)
    return f"dies of signal {-done.returncode} in a trial" if done.returncode < 0 else None


def main():
    if sys.argv[1:] == ["--check"]:
        for _, file, old, new, *_ in BUGS + KERNEL_BUGS:
            changed_text(file, old, new)
            if file in INCLUDED_BY:
                changed_text(INCLUDED_BY[file], f'#include "{file}"', "")
        print(f"{len(BUGS) + len(KERNEL_BUGS)} bugs fit")
        return 0
    missed = 0
    by_self_check = "--self-check" in sys.argv[2:]
    bugs, program, judge = ((KERNEL_BUGS, "self_check_kernels", verdict_of_self_check) if by_self_check else
                            (BUGS, "random_programs", verdict))
    bugs = [bug for bug in bugs if len(bug) == 4 or bug[4]]
    for what, file, old, new, *_ in bugs:
        with tempfile.TemporaryDirectory() as folder:
            caught = judge(Planter(sys.argv[1], folder, program).plant(file, old, new))
        missed += caught is None
        print(f"{what}: {caught[:160] if caught else 'NOT CAUGHT'}", flush=True)
    print(f"{len(bugs) - missed} of {len(bugs)} bugs caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
