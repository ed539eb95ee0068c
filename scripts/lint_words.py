#!/usr/bin/python3
"""Text that users see avoids old phrases of this project: docs/glossary.md has the terms to use instead.

    scripts/lint_words.py [ROOT]        exit 1 and one line per phrase:  FILE:LINE: `phrase`; write `replacement`

Reads string literals of C++ sources, the comments that they start with, Markdown pages, comments and code of lib/*.tap, and golden
files of the command line.
"""
import pathlib
import re
import sys

# A regular expression, without regard to case, and what to write instead.
PHRASES = [
    (r"memory does not suffice", "out of memory"),
    (r"is no value of", "invalid value … for"),
    (r"is one argument too many", "is an unexpected argument"),
    (r"is no text\b", "must be a string"),
    (r"is no list\b", "must be an array"),
    (r"is no object\b", "must be an object"),
    (r"is no (?:whole )?number\b", "must be an integer, must be a number"),
    (r"is no (?:element type|index variable|cell\b|task\b|justification|variable|tensor|function|option)",
     "is not a …"),
    (r"is no iterate", "is not an iterate"),
    (r"is no power of two", "is not a power of two"),
    (r"is no permutation", "is not a permutation"),
    (r"is no shared library", "is not a shared library"),
    (r"is no (?:input|output|tolerance|size|place for)\b", "is not a valid …"),
    (r"(?:was|were) wanted", "expected"),
    (r"(?:is|are) wanted", "expected"),
    (r"wants (?:a value|two|its)", "needs"),
    (r"stands where", "found …, expected …"),
    (r"should stand here", "expected …"),
    (r"does not belong here", "unexpected …"),
    (r"stands before the first", "… before the first"),
    (r"nobody (?:asked|gave|wrote|wants|needs)", "implicit, inferred, unused"),
    (r"moves? that (?:nobody|no one)", "implicit reshard"),
    (r"is apart from all else", "outputs must not alias"),
    (r"lie between each other", "are interleaved"),
    (r"written apart", "written to a staging buffer"),
    (r"what lies along", "lane"),
    (r"is walked|can only be walked", "is streamed"),
    (r"cut into blocks", "split into blocks"),
    (r"(?:cannot|can) be cut\b", "can be split"),
    (r"fused and cut\b", "fused and split"),
    (r"cut over (?:devices|threads|a mesh)", "split over …"),
    (r"what it reads is moved for it", "reads through a transfer"),
    (r"something is said of", "has a sharding or a split"),
    (r"are to be combined", "are combined"),
    (r"is (?:still )?to be (?:rounded|proved|split)", "must be …"),
    (r"only assumed", "assumed, not proved"),
    (r"is said to be", "is claimed to be"),
    (r"is given another number of", "received a wrong number of"),
    (r"has another number of names", "has a wrong number of names"),
    (r"runs over nothing", "is empty"),
    (r"a repetition\b", "an iterate"),
    (r"steps? (?:that are|that is) written out", "unrolled trips"),
    (r"waits? for each other in a circle", "depend on each other in a cycle"),
    (r"takes in a term", "sums a loop-invariant term"),
    (r"goes on after its", "has data after its"),
    (r"is cut off in its", "is truncated in its"),
    (r"nothing but blanks", "only blanks"),
    (r"holds a (?:NUL|zero) byte", "contains a NUL byte"),
    (r"(?:inside|outside) of (?:a|an|the|its)\b", "inside …, outside …"),
    (r"is there twice", "occurs twice"),
    (r"one behind the other", "contiguous"),
    (r"is told (?:with|once|as)", "is reported …"),
    (r"with the place, the reason and a mend", "with location, cause and fix"),
    (r"\bmends\b|\ba mend\b", "fix"),
    (r"tells the options", "shows the options"),
    (r"file of tensors", "tensor file"),
    (r"what (?:is|are) more than we do", "unsupported"),
    (r"what nobody\b|which nobody\b|that nobody\b", "implicit, inferred, unused"),
    (r"(?:is|are) told\b|told (?:as|by|apart|once|so)\b", "is reported, is given by, is distinguished"),
    (r"tells? (?:us|that|what|where|how|why|which|whether|each|its)\b", "shows …, states …"),
    (r"whoever\b", "the caller, the reader, …"),
    (r"what lies\b", "the cells …"),
    (r"lies? (?:apart|behind|side by side|over each other)\b", "is disjoint, after, contiguous, overlaps"),
    (r"in so many\b", "in a limited number of"),
    (r"(?:is|are|was|were) asked for\b", "is requested, is needed"),
    (r"there is no (?:monoid|mesh|operator|function|program|reduction|component|type class|element type) `", "unknown … `"),
    (r"there is no (?:monoid|mesh|operator|function|program|reduction|component|type class|element type) $", "unknown …"),
    (r"has another (?:shape|type|element type|rank|number of)\b", "has the wrong …"),
    (r"stands? (?:for itself|beside|in no|there)\b", "is …, occurs …"),
    (r"is (?:worked out|looked at)\b", "is computed, is analysed"),
    (r"cut (?:over|along|into|evenly|by it)\b|cut (?:off|in its)\b", "split …; truncated …"),
    (r"cut any\b|cuts it evenly", "split, divide evenly"),
    (r"at other borders|border of a block", "boundary"),
    (r"spoken of|speaks of", "mentioned"),
    (r"priced apart", "with separate costs"),
    (r"caches still hold", "is still cached"),
    (r"which nothing is called|nothing is called", "unknown name"),
    (r"reads? apart\b|holds apart", "separate reads"),
    (r"takes? (?:\w+ )?from others\b", "receives"),
    (r"at hand\b", "available, given"),
    (r"is meant\b|are meant\b", "is intended"),
    (r"of its own kind|of another kind\b", "of a different kind"),
    (r"rounds of (?:a |its )?loops?", "iterations"),
    (r"(?:is|are) (?:split|placed|streamed|written|proved) already", "is already …"),
    (r"nobody\b", "no operation, unused, undecided"),
    (r"are no (?:value|operation|region|map|type|input|output)s?\b", "are not …"),
]
SKIPPED = ("build", "out", "tests/", "docs/dev/results/", "docs/glossary.md", "CHANGELOG.md")

LITERAL = re.compile(r'R"(\w*)\((?P<raw>.*?)\)\1"|"(?P<text>(?:[^"\\\n]|\\.)*)"|//[^\n]*|/\*.*?\*/|'
                     r"#include[^\n]*|'(?:[^'\\\n]|\\.)+'", re.S)
WORDS = [(re.compile(r"\b(?:" + phrase + ")", re.I), instead) for phrase, instead in PHRASES]


def literals(source):
    """(line, text) of each string literal; adjacent ones are one, as for the compiler."""
    end, begin, joined = None, 0, ""
    for match in LITERAL.finditer(source):
        text = match["raw"] if match["raw"] is not None else match["text"]
        if text is None:
            continue
        if end is not None and not source[end:match.start()].strip():
            joined += text
        else:
            if joined:
                yield source.count("\n", 0, begin) + 1, joined
            begin, joined = match.start(), text
        end = match.end()
    if joined:
        yield source.count("\n", 0, begin) + 1, joined


def head(source):
    """The paragraphs of the comment that a file starts with, as (line, text)."""
    found, paragraph = [], ""
    for number, line in enumerate(source.split("\n"), 1):
        if paragraph and not re.match(r"// \S", line):
            found.append((begin, paragraph.strip()))
            paragraph = ""
        if not line.startswith("//"):
            break
        if re.match(r"// \S", line):
            begin = begin if paragraph else number
            paragraph += " " + line[3:]
    return found


def texts(path, name):
    """(line, text) of the user-visible parts of a file."""
    source = path.read_text(errors="replace")
    if path.suffix in (".cpp", ".h", ".def"):
        return head(source) + list(literals(source))
    return [(n, line) for n, line in enumerate(source.split("\n"), 1)]


def files(root):
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(".") or "/." in name or "node_modules/" in name or not path.is_file():
            continue
        golden = name.startswith("tests/golden/command_line/")
        library = name.startswith("lib/") and path.suffix == ".tap"
        if not golden and (name.startswith(SKIPPED) or not library and path.suffix not in (".cpp", ".h", ".def", ".md")):
            continue
        yield path, name


def main(root):
    found, count = [], 0
    for path, name in files(root):
        count += 1
        for line, text in texts(path, name):
            for phrase, instead in WORDS:
                if match := phrase.search(text):
                    found.append(f"{name}:{line}: `{match[0]}`; write `{instead}`")
    print("\n".join(found + [f"{count} files, {len(PHRASES)} phrases, {len(found)} of them found"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()))
