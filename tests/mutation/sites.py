"""Where a source can be changed, and how: the operators of mutation testing, on lines whose strings and comments are blank.

A change is a text in place of a span of one line. It holds the mutant's number, so that it does nothing until that is on:

    continue;      becomes   if (!::tap::mutant::on(7)) continue;
    a < b          becomes   a < ::tap::mutant::Operator<7, '<', 'l'>{} < b       (mutant.h)
"""
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Site:
    file: str
    line: int   # from 1
    begin: int  # columns of the text that is replaced, from 0
    end: int
    new: str    # `@` stands for the mutant's number
    what: str   # in words: `<` to `<=`


SWAPS = [("<", "<=", "<", "l"), ("<=", "<", "l", "<"), (">", ">=", ">", "g"), (">=", ">", "g", ">"),
         ("==", "!=", "=", "!"), ("!=", "==", "!", "="), ("+", "-", "+", "-"), ("-", "+", "-", "+"),
         ("*", "+", "*", "+")]
ON = "::tap::mutant::on(@)"
# What is no expression that runs, or says what cannot happen: a change of an invariant is no fault.
SKIPPED = re.compile(r"\b(constexpr|consteval|constinit|template|static_assert|case|enum|using|typename|concept|requires|"
                     r"operator|TAP_\w+|#\w*|__builtin_unreachable|assert)\b|^\s*#")
STATEMENT = re.compile(r"^(\s+)((?!return|throw|break|continue|else|if|for|while|switch|do|auto|const|delete|co_)"
                       r"[A-Za-z_][\w.:\[\]]*(?:->[\w.]+)*\((?:[^;{}]*)\);)\s*$")


def code_of(text):
    """The text with strings, characters and comments replaced by blanks of the same length."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def condition_end(code, begin):
    """The column after the bracket that closes the one at `begin`; -1 if it is not closed on this line."""
    depth = 0
    for at in range(begin, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    return -1


def sites_of_line(file, number, code):
    def site(begin, end, new, what):
        return Site(file, number, begin, end, new, what)

    for old, new, old_letter, new_letter in SWAPS:
        for m in re.finditer(rf"(?<=[\w)\]}}]) {re.escape(old)} (?=[\w(\-!*])", code):
            middle = f" {old} ::tap::mutant::Operator<@, '{old_letter}', '{new_letter}'>{{}} {old} "
            yield site(m.start(), m.end(), middle, f"`{old}` to `{new}`")
    for m in re.finditer(r" && ", code):
        yield site(m.start(), m.end(), f" && !{ON} && ", "`&&` to false")
    for m in re.finditer(r" \|\| ", code):
        yield site(m.start(), m.end(), f" || {ON} || ", "`||` to true")
    for m in re.finditer(r"\b(if|while) \(", code):
        end = condition_end(code, m.end() - 1)
        inside = code[m.end():end - 1] if end > 0 else ";"
        if ";" in inside or re.search(r"(?<![=!<>])=(?!=)", inside):
            continue
        yield site(m.end() - 1, end, f"(!{ON} && ({inside}))", "condition to false")
        if m.group(1) == "if":
            yield site(m.end() - 1, end, f"({ON} || ({inside}))", "condition to true")
    for m in re.finditer(r"\breturn (true|false);", code):
        value = f"!{ON}" if m.group(1) == "true" else ON
        yield site(m.start(), m.end(), f"return {value};", f"`return {m.group(1)}` to the other")
    for m in re.finditer(r"\b(continue|break);", code):
        yield site(m.start(), m.end(), f"{{ if (!{ON}) {m.group(1)}; }}", f"without `{m.group(1)}`")
    for m in re.finditer(r"(?<= [+\-] )1\b(?![.\w'])|(?<=[(,] )[01]\b(?![.\w'])", code):
        value = int(m.group())
        yield site(m.start(), m.end(), f"({value} + static_cast<int>({ON}))", f"{value} to {value + 1}")
    for m in re.finditer(r"\bstd::(min|max)(?=[(<])", code):
        if code[m.end()] == "<":
            named = re.match(r"<([\w:]+)>", code[m.end():])
            if not named:
                continue
            new, end = f"<@, {named.group(1)}>", m.end() + named.end()
        else:
            new, end = "<@>", m.end()
        name = {"min": "least", "max": "greatest"}[m.group(1)]
        yield site(m.start(), end, f"::tap::mutant::{name}{new}", f"std::{m.group(1)} to the other")
    if m := STATEMENT.match(code):
        yield site(m.start(2), m.end(2), f"{{ if (!{ON}) {m.group(2)} }}", "without the statement")


def sites_of(file, text):
    """Every possible change of a source. Strings are kept: only code is replaced."""
    code = code_of(text).split("\n")
    raw = text.split("\n")
    found = []
    for number, line in enumerate(code, 1):
        if SKIPPED.search(line):
            continue
        for s in sites_of_line(file, number, line):
            if raw[number - 1][s.begin:s.end] == line[s.begin:s.end]:  # no string in what is replaced
                found.append(s)
    return found


def changed(text, numbered):
    """The text with the changes of `numbered`, pairs of a number and a site of this file, at most one a line."""
    lines = text.split("\n")
    for number, site in numbered:
        line = lines[site.line - 1]
        lines[site.line - 1] = line[:site.begin] + site.new.replace("@", str(number)) + line[site.end:]
    return '#include "tests/mutation/mutant.h"\n#line 1\n' + "\n".join(lines)
