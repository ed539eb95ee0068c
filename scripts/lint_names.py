#!/usr/bin/python3
"""Names in anonymous namespaces differ among the sources of a folder, since CI and release builds compile several as one.

    scripts/lint_names.py [ROOT]        exit 1 and a line for each name that several sources define

Reads the first lines of definitions, as .clang-format lays them out. Functions with different parameters may share a name, and
so may equal aliases; nothing else may.
"""
import collections
import pathlib
import re
import sys

PROGRAMS = {"bench", "examples"}  # each source there is a separate program
TYPE = re.compile(r"(?:struct|class|enum class|enum) (\w+)\b(?!.*;$)")
ALIAS = re.compile(r"using (\w+) = (.*)")
CONSTANT = re.compile(r"(?:inline |static |constexpr |const )+[\w:<>,*& ]+? (\w+)(?:\[\w*\])? ?[={]")
FUNCTION = re.compile(r"(?:template.*> )?[\w:<>,*&\[\] ]+? [*&]?(\w+)\((.*)")


def defined(line):
    """The names that an unindented line defines, each with the key that must be unique among sources."""
    if match := TYPE.match(line):
        yield match.group(1), ""
    elif match := ALIAS.match(line):
        yield match.group(1), match.group(2)
    elif match := CONSTANT.match(line):
        yield match.group(1), ""
        for further in re.findall(r", (\w+) = ", line):
            yield further, ""
    elif match := FUNCTION.match(line):
        needed = re.sub(r",?[^,]* = .*", ")", match.group(2))  # what has a default need not be given
        named = re.sub(r" ?\b\w+(?=[,)])", "", needed.split("{")[0])
        types = re.sub(r"\w+::", "", named)  # ir::Box and Box are one type
        yield match.group(1), "(" + types.strip()


def definitions(text):
    """(namespace, name, kind) of every definition in an anonymous namespace, and of aliases outside: they hide each other."""
    spaces = []
    for line in text.split("\n"):
        if match := re.match(r"namespace ?([\w:]*) ?\{$", line):
            spaces.append(match.group(1))
        elif line.startswith("}  // namespace"):
            spaces.pop()
        elif spaces and (spaces[-1] == "" or ALIAS.match(line)) and line and line[0] not in " /#}":
            for found in defined(line):
                yield "::".join(space for space in spaces if space), *found


def collisions(folder):
    where = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in sorted(folder.glob("*.cpp")):
        for space, name, kind in definitions(path.read_text()):
            where[space, name][kind].add(path.name)
    for (space, name), kinds in sorted(where.items()):
        everywhere = set().union(*kinds.values())
        functions = [kind for kind in kinds if kind.startswith("(")]
        if len(functions) == len(kinds):
            groups = kinds.values()  # overloads may stand side by side
        elif list(kinds)[0] and len(kinds) == 1:
            groups = []  # an alias that says the same everywhere
        else:
            groups = [everywhere]
        for files in groups:
            if len(files) > 1:
                yield f"{space}: `{name}` is defined by {', '.join(sorted(files))}"


def folders_with_sources(root):
    """Folders of the repository, without build outputs."""
    tops = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "build", "out"))]
    return sorted({path.parent for top in tops if top.name not in PROGRAMS for path in top.rglob("*.cpp")})


def main(root):
    folders = folders_with_sources(root)
    found = [f"{folder.relative_to(root)}: {line}" for folder in folders for line in collisions(folder)]
    print("\n".join(found + [f"{len(folders)} folders, {len(found)} names that several sources define"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()))
