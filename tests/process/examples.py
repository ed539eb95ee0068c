"""The programs of examples/, with the words that their `try:` lines run them with."""
import re
import shlex

from tapc import ROOT


def examples():
    """Each example with the words of its `try:` line, and those about its sizes and program alone."""
    for path in sorted((ROOT / "examples").glob("*.tap")):
        line = re.search(r"// try: tapc run \S+ ?((?:[^\n]*\n//   )*[^\n]*)", path.read_text())
        if line:
            words = shlex.split(re.sub(r"\n//", " ", line.group(1)))
            yield path, words, [w for k, w in enumerate(words) if {w, words[k - 1]} & {"--dim", "--program"}]
