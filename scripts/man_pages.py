#!/usr/bin/python3
"""Man pages from the help of tapc: tapc.1, a page tapc-COMMAND.1 for each command, and tapc-check.1.

    man_pages.py TAPC FOLDER
"""
import re
import subprocess
import sys
from pathlib import Path


def help_of(tapc, *command):
    return subprocess.run([tapc, *command, "--help"], check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text)
    return "\n".join("\\&" + line if line[:1] in {".", "'"} else line for line in text.split("\n"))


def sections(text):
    """The first line, and {title: [(term, meaning)]} of what follows under `Title:`."""
    lines = text.splitlines()
    found, title = {}, None
    for line in lines[1:]:
        if re.match(r"Usage: ", line):
            found["Usage"] = [(line[len("Usage: "):], "")]
        elif heading := re.match(r"(\w[\w ]*):$", line):
            title = heading[1]
            found[title] = []
        elif title and (row := re.match(r"  (\S.*?)(?:  +(.*))?$", line)):
            found[title].append((row[1], row[2] or ""))
        elif title and line.startswith("   ") and found[title]:
            term, meaning = found[title][-1]
            found[title][-1] = (term, f"{meaning} {line.strip()}".strip())
        elif not line.strip():
            continue
        else:
            title = None
    return lines[0], found


def page(name, version, summary, found, see):
    out = [f'.TH "{name.upper()}" 1 "" "{version}" "Tapestry"', ".SH NAME", f"{escaped(name)} \\- {escaped(summary)}", ".SH SYNOPSIS",
           f".B {escaped(found.pop('Usage')[0][0])}"]
    for title, rows in found.items():
        out.append(f".SH {title.upper()}")
        for term, meaning in rows:
            out += [".TP", f"\\fB{escaped(term)}\\fP", escaped(meaning) or "\\&"]
    out += [".SH SEE ALSO", ", ".join(f"\\fB{escaped(other)}\\fP(1)" for other in see)]
    return "\n".join(out) + "\n"


def main():
    tapc, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([tapc, "--version"], check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout.split(" (")[0].strip()
    summary, found = sections(help_of(tapc))
    commands = next(rows for title, rows in found.items() if title.lower() == "subcommands")
    names = [name for name, _ in commands]
    summary = summary.removeprefix("tapc, ").rstrip(".")
    (folder / "tapc.1").write_text(page("tapc", version, summary, found, [*(f"tapc-{name}" for name in names), "tapc-check"]))
    for name in names:
        if name == "check":
            continue  # tapc-check.1 is the checker's; `tapc check` stands in tapc.1
        about, options = sections(help_of(tapc, name))
        (folder / f"tapc-{name}.1").write_text(page(f"tapc-{name}", version, about, options, ["tapc"]))
    about, options = sections(help_of(tapc, "check"))
    usage = {"Usage": [("tapc-check [--rules=RULES.ir] SOURCE.ir CERTIFICATE STAGE.ir...", "")],
             "Description": [("tapc-check", "The independent checker: proves that each stage computes what the source computes, by the certificate, "
                              "without any code of the compiler's passes. `tapc verify --certificate FILE --stages PREFIX` writes its input files."),
                             ("--rules=RULES.ir", "Rewrite rules of the program that are taken as given")]}
    (folder / "tapc-check.1").write_text(page("tapc-check", version, "prove a certificate of tapc again", usage, ["tapc", "tapc-verify"]))
    (folder / "tapc-check-command.1").write_text(page("tapc check", version, about, options, ["tapc", "tapc-check"]))


if __name__ == "__main__":
    main()
