#!/usr/bin/python3
"""Checks project rules that a compiler cannot: which folder may include which, which files may include a library, that no
pass names an operator of lib/std.tap, that every folder and room has a README, and that READMEs name existing files
only.

    scripts/lint_includes.py [ROOT]        exit 1 and one line per violation:  FILE:LINE: what
"""
import collections
import re
import subprocess
import sys
from pathlib import Path

# The folders whose headers a folder may include. Tests may include anything.
ALLOWED = {
    "support": {"support"},
    "ir": {"support", "ir"},
    "passes": {"support", "ir", "passes"},
    "check": {"support", "ir", "check", "replay"},
    "replay": {"support", "ir", "check", "replay"},
    "runtime": {"support", "runtime"},
    "backend": {"support", "ir", "runtime", "backend"},
    "cost": {"support", "ir", "passes", "check", "runtime", "backend", "cost"},
    "compiler/frontend": {"support", "ir", "compiler/frontend"},
    "compiler/pipeline": {"support", "ir", "passes", "check", "replay", "backend", "cost", "compiler/frontend",
                          "compiler/pipeline"},
    "compiler/driver": {"support", "ir", "passes", "check", "replay", "runtime", "backend", "cost", "compiler/frontend",
                        "compiler/pipeline", "compiler/driver"},
}

# The rooms of a folder, and which rooms of the same folder each may include beside the folder's own headers.
ROOMS = {
    "ir/shardings": set(),
    "ir/graphs": set(),
    "ir/text": {"ir/shardings"},
    "ir/verify": {"ir/shardings", "ir/text"},
    "ir/interpret": {"ir/graphs"},
    "passes/simplify": set(),
    "passes/fusion": set(),
    "passes/splits": set(),
    "passes/rewrites": {"passes/simplify", "passes/fusion"},
    "passes/shardings": {"passes/splits"},
    "backend/maths": set(),
    "backend/mlir": set(),
    "backend/loops": set(),
    "backend/tiles": {"backend/loops"},
    "backend/lower": {"backend/loops", "backend/tiles"},
    "backend/schedule": {"backend/loops"},
    "backend/llvm": {"backend/loops", "backend/maths", "backend/schedule", "backend/trial", "backend/llvm/passes"},
    "backend/llvm/passes": set(),
    "backend/trial": {"backend/loops"},
    "cost/machine": set(),
    "cost/work": {"cost/machine"},
    "cost/model": {"cost/machine", "cost/work"},
    "cost/simulate": {"cost/machine", "cost/model"},
    "cost/decide": {"cost/machine", "cost/work", "cost/model"},
    "compiler/frontend/syntax": set(),
    "compiler/frontend/proofs": {"compiler/frontend/syntax", "compiler/frontend/elaborate"},
    "compiler/frontend/rewrites": {"compiler/frontend/syntax", "compiler/frontend/elaborate"},
    "compiler/frontend/cells": {"compiler/frontend/syntax", "compiler/frontend/elaborate"},
    "compiler/frontend/elaborate": {"compiler/frontend/syntax", "compiler/frontend/cells", "compiler/frontend/proofs",
                                    "compiler/frontend/rewrites"},
    "compiler/driver/show": set(),
    "compiler/driver/bindings": set(),
    "compiler/driver/machines": {"compiler/driver/show"},
    "compiler/driver/metrics": {"compiler/driver/show"},
    "compiler/driver/keep": set(),
    "compiler/driver/reshard": set(),
    "compiler/driver/planning": {"compiler/driver/show", "compiler/driver/machines", "compiler/driver/metrics"},
    "compiler/driver/commands": {"compiler/driver/show", "compiler/driver/bindings", "compiler/driver/machines",
                                 "compiler/driver/metrics", "compiler/driver/keep", "compiler/driver/reshard", "compiler/driver/planning"},
    "runtime/tensors": set(),
    "runtime/embedded": set(),
}
MOST_SOURCES = 70  # directly in one folder
MOST_LINES = 400  # of a source

# A library's headers, and the only files that may include them: (prefixes, pattern, in words).
LIBRARIES = [
    (("llvm/", "llvm-c/", "lld/"), r"backend/(llvm/(passes/)?[^/]*\.cpp|maths/[^/]*\.(cpp|h))", "backend/llvm/*.cpp, backend/llvm/passes/*.cpp and backend/maths/*"),
    (("antlr4", "grammar/Tap"), r"compiler/frontend/syntax/antlr[^/]*\.(cpp|h)", "compiler/frontend/syntax/antlr*"),
    (("boost/graph/", "boost/property_map/"), r"ir/(graphs/)?[^/]*graph[^/]*\.cpp", "ir/*graph*.cpp"),
    (("boost/multiprecision/",), r"compiler/frontend/proofs/laws[^/]*\.(cpp|h)", "compiler/frontend/proofs/laws*"),
    (("isl/",), r"compiler/frontend/proofs/(legality|isl)[^/]*\.(cpp|h)", "compiler/frontend/proofs/legality*"),
    (("z3",), r"compiler/frontend/proofs/laws[^/]*\.(cpp|h)", "compiler/frontend/proofs/laws*"),
    (("mpi.h",), r"bench/peers/mpi_peers\.cpp", "runtime/mpi/shim.c and bench/peers/mpi_peers.cpp"),
    (("CLI/",), r"compiler/driver/([a-z]+/)?[^/]*\.(cpp|h)", "compiler/driver/*"),
    (("nlohmann/",), r"(runtime|compiler/driver)/([a-z]+/)?[^/]*\.(cpp|h)", "runtime/* and compiler/driver/*"),
    (("xxhash.h",), r"ir/graphs/program_hash\.cpp", "ir/graphs/program_hash.cpp"),
    (("hwloc.h",), r"backend/machine_of\.cpp", "backend/machine_of.cpp"),
    (("toml++/",), r"compiler/driver/machines/machine_reader\.cpp", "compiler/driver/machines/machine_reader.cpp"),
    (("zlib.h",), r"runtime/tensors/[^/]*\.cpp", "runtime/tensors/*.cpp"),
]

# Of ir/, the independent checker may use data types and the text form, never the code whose results it checks.
CHECKER_MAY_INCLUDE = {"ir/cell_ops.def", "ir/cell_rule.h", "ir/box_set.h", "ir/operator.h", "ir/graph.h", "ir/certificate.h",
                       "ir/text/certificate_text.h", "ir/graphs/program_hash.h", "ir/text.h", "ir/block_graph.h", "ir/schedule.h",
                       "ir/text/stage_text.h", "ir/verify/well_formed.h", "ir/verify/well_formed_reader.h",
                       "ir/verify/verify.h"}  # the verifier only refuses: what it lets through is looked at all the same
CHECKER_MAY_NOT_CALL = re.compile(
    r"[.>](image|bounds|block|domain|box|holds|as_variable|shape|bytes)\(|"
    r"\b(compose|narrowed|is_block_dim|tiles|blocks_of|hull|first_point|next_point|reachable_from|"
    r"structural_hash|equal_structure|as_affine|as_constraints|application_dims|application_boxes|box_to_run|read_region|"
    r"written_region|ceil_blocks|builtin_monoid|component_dependence|restrict_to|Interner)\(")
# Of code, neither blank nor only a comment; the tables of axioms, obligations and arithmetic are data.
# check: copies of inputs that a plan holds in parts, beside those in rules; folds of one block, which nothing combines; transfers
# with fewer dims than their readers, which are then to be matched.
# replay: which cells of a memory a batch reads, since messages read and write one memory in a batch.
CHECKER = {"check": 3855, "replay": 1530}  # lines

NO_OPERATOR_NAMES_IN = ("ir", "passes", "check", "replay", "backend", "cost")
NOT_OPERATORS = {"ir/cell_ops.def"}  # the scalar functions; a few share their spelling with an operator
GENERATED = re.compile(r"grammar/Tap(Lexer|Parser)\.h|embed/.*")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
NAMED_FILE = re.compile(r"`((?:[\w./*]+\.(?:h|cpp|def))|(?:\w+/[\w./*]+\.(?:py|txt|json|md|tap|g4)))`")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
OPERATOR = re.compile(r"^\s*(?:extern\s+)?op\s+([A-Za-z_]\w*)", re.M)


def sources(root):
    """Tracked and new files, not ignored ones; without git, every file."""
    try:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.cpp", "*.h", "*.def"], cwd=root,
                                capture_output=True, text=True, check=True).stdout.split("\n")
        names = [n for n in listed if n]
    except (OSError, subprocess.CalledProcessError):
        names = [str(p.relative_to(root)) for p in root.rglob("*") if p.suffix in {".cpp", ".h", ".def"}]
    return sorted(n for n in set(names) if (root / n).is_file())


def folder_of(name):
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "compiler" else parts[0]


def room_of(name):
    return name.rsplit("/", 1)[0]


def is_checkers(name):
    """Whether the checker relies on this file: its own code, and the verifier of programs."""
    return folder_of(name) in CHECKER or name.startswith("ir/verify/well_formed")


def check_include(root, name, quoted, header):
    folder, target = folder_of(name), folder_of(header)
    for prefixes, pattern, words in LIBRARIES:
        if header.startswith(prefixes) and folder != "tests" and not re.fullmatch(pattern, name):
            yield f"<{header}> belongs in {words} only"
    if not quoted:
        return
    is_sibling = folder == "tests" and ((root / name).parent / header).is_file()
    if not GENERATED.fullmatch(header) and not (root / header).is_file() and not is_sibling:
        yield f'"{header}" is no file; includes are written from the root of the repository'
    if folder in ALLOWED and target in ALLOWED and target not in ALLOWED[folder]:
        yield f'{folder}/ may not include {target}/ ("{header}")'
    room, other = room_of(name), room_of(header)
    if folder == target and room != other and room in ROOMS and other in ROOMS and other not in ROOMS[room]:
        yield f'{room}/ may not include {other}/ ("{header}")'
    if header.startswith("ir/verify/well_formed") and folder not in ("check", "replay", "ir", "tests"):
        yield f'"{header}" is for the checker'
    if is_checkers(name) and target == "ir" and header not in CHECKER_MAY_INCLUDE:
        yield f'the checker may not use "{header}", whose results it checks'


def without_comments(line, in_comment):
    """The code of a line, and whether a block comment is still open at its end. Strings are kept."""
    out, i = "", 0
    while i < len(line):
        if in_comment:
            end = line.find("*/", i)
            if end < 0:
                return out, True
            i, in_comment = end + 2, False
        elif line.startswith("//", i):
            return out, False
        elif line.startswith("/*", i):
            i, in_comment = i + 2, True
        elif match := STRING.match(line, i):
            out, i = out + match.group(0), match.end()
        else:
            out, i = out + line[i], i + 1
    return out, in_comment


def operator_names(root):
    library = root / "lib/std.tap"
    return set(OPERATOR.findall(library.read_text(encoding="utf-8"))) if library.is_file() else set()


def check_file(root, name, operators):
    lines = (root / name).read_text(encoding="utf-8", errors="replace").split("\n")
    if name.endswith(".h") and not any(l.strip() == "#pragma once" for l in lines):
        yield 1, "a header begins with #pragma once"
    named = folder_of(name) in NO_OPERATOR_NAMES_IN and name not in NOT_OPERATORS
    in_comment = False
    for number, line in enumerate(lines, 1):
        code, in_comment = without_comments(line, in_comment)
        if match := INCLUDE.match(code):
            for problem in check_include(root, name, match.group(1) == '"', match.group(2)):
                yield number, problem
        elif is_checkers(name) and (call := CHECKER_MAY_NOT_CALL.search(STRING.sub("", code))):
            yield number, f"the checker may not use `{call.group(0)}`, whose results it checks"
        elif named:
            for text in STRING.findall(code):
                if text in operators:
                    yield number, f'"{text}" is an operator of lib/std.tap; a pass asks for facts, never for names'


def check_size(root, names):
    lines = dict.fromkeys(CHECKER, 0)
    for name in names:
        if folder_of(name) not in CHECKER or name.endswith(".def"):
            continue
        in_comment = False
        for line in (root / name).read_text(encoding="utf-8", errors="replace").split("\n"):
            code, in_comment = without_comments(line, in_comment)
            lines[folder_of(name)] += bool(code.strip())
    for folder, most in CHECKER.items():
        if lines[folder] > most:
            yield f"{folder}: {lines[folder]} lines of code, and at most {most} can be read and believed"


def check_rooms(names):
    count = collections.Counter(room_of(name) for name in names if "/" in name)
    for room, sources in sorted(count.items()):
        if sources > MOST_SOURCES:
            yield f"{room}: {sources} sources, and at most {MOST_SOURCES} in one folder"


def readmes(root):
    """The READMEs of folders and rooms, and the pages that describe the layout; not build outputs."""
    pages = [page for page in (root / "CONTRIBUTING.md", root / "docs/architecture.md") if page.is_file()]
    pages += [page for depth in ("*", "*/*", "compiler/*/*") for page in root.glob(depth + "/README.md")]
    return sorted(page for page in set(pages) if not page.relative_to(root).parts[0].startswith("build"))


def check_room_readme(root):
    """Only for a whole repository, which has a README.md at its root."""
    for room in sorted({*ROOMS, *ALLOWED}):
        if (root / room).is_dir() and (root / "README.md").is_file() and not (root / room / "README.md").is_file():
            yield f"{room}: a room without a README.md"


def check_lengths(root, names):
    for name in names:
        lines = (root / name).read_text(encoding="utf-8", errors="replace").count("\n")
        if lines > MOST_LINES:
            yield f"{name}: {lines} lines, and at most {MOST_LINES} in one source"


def check_readme(root, readme):
    """Files are named as seen from the README's folder, from those in it, or from the root; `x_*.h` is any of them,
    `NAME.h` and `ID.md` are yet to be written."""
    for number, line in enumerate(readme.read_text(encoding="utf-8").split("\n"), 1):
        for name in NAMED_FILE.findall(line):
            if not re.search(r"NAME|\bID\.md", name) and not any(readme.parent.rglob(name)) and not any(root.glob(name)):
                yield f"{readme.relative_to(root)}:{number}: `{name}` is no file"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    operators = operator_names(root)
    names = sources(root)
    problems = [f"{name}:{line}: {what}" for name in names for line, what in check_file(root, name, operators)]
    problems += check_size(root, names)
    problems += check_rooms(names)
    problems += check_lengths(root, names)
    problems += check_room_readme(root)
    problems += [problem for readme in readmes(root) for problem in check_readme(root, readme)]
    print("\n".join(problems + [f"{len(names)} files, {len(operators)} operator names, {len(problems)} violations"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
