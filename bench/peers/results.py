"""What is made of measurements: ratios, rows of a table, the page docs/benchmarks.md, and a summary over all rows."""
import math
import statistics

OURS = "tapestry"

NOTES = {"attention_long": "memory of the whole process: {peak}, of 400 MB"}


def agree(one, other):
    """Whether the results of two peers agree up to rounding."""
    allowed = 2e-3 * max(one["norm"], other["norm"])
    return all(abs(a - b) <= allowed for a, b in zip(one["probes"], other["probes"]))


def outliers(answers):
    """The peers that do not agree with the one that agrees with most others."""
    reference = max(answers.values(), key=lambda one: sum(agree(one, other) for other in answers.values()), default=None)
    return [label for label, answer in answers.items() if not agree(reference, answer)]


def ratio(found, rival):
    """Our speed over the rival's, turn by turn."""
    return statistics.median(theirs / ours for ours, theirs in zip(found[OURS]["turns"], found[rival]["turns"]))


def judge(workload, size, found, threads, limits=None):
    """One row of the table."""
    rate = {label: workload.amount(size) / peer["seconds"] / 1e9 for label, peer in found.items()}
    rivals = [label for label in found if label != OURS and found[label]["agrees"]
              and (workload.against == "the best" or label.startswith(workload.against))]
    best = max(rivals, key=rate.get, default=None)
    row = {"workload": workload.name, "size": size, "threads": threads, "unit": workload.unit, "floor": workload.floor, "rates": rate,
           "against": best, "peak": found.get(OURS, {}).get("peak"),
           "disagree": [label for label in found if not found[label]["agrees"]]}
    row["ratio"] = ratio(found, best) if best and OURS in found else None
    row["met"] = None if not workload.floor or row["ratio"] is None else row["ratio"] >= floor_of(workload, row, limits)
    if limits:
        row["of_limit"] = rate.get(OURS, 0) / limits["copy" if workload.unit == "GB/s" else "multiply_add"]
    return row


def floor_of(workload, row, limits):
    """Where both reach 95 % of the bandwidth measured beside, three percent are within what a run varies."""
    if not limits or workload.unit != "GB/s" or min(row["rates"][OURS], row["rates"][row["against"]]) < 0.95 * limits["copy"]:
        return workload.floor
    return min(workload.floor, 0.97)


def short(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def sketch(row):
    """A row for tuning: our time, the ratio, then the rivals by speed."""
    size = row["size"].replace(" ", "")
    ours = row["rates"].get(OURS)
    head = f"{row['workload']:14} {size:24} {row['threads']} {OURS} " + (f"{short(ours):>6} {row['unit']}" if ours else "did not run")
    if row["ratio"] is not None:
        verdict = {True: "met", False: "NOT MET", None: ""}[row["met"]]
        floor = f" (floor {row['floor']:g}: {verdict})" if row["floor"] else ""
        head += f"  {row['ratio']:.3f}x {row['against']}{floor}"
    rivals = sorted(((rate, label) for label, rate in row["rates"].items() if label != OURS), reverse=True)
    head += "  | " + "  ".join(f"{label} {short(rate)}" for rate, label in rivals)
    return head + (f"  DISAGREE: {', '.join(row['disagree'])}" if row["disagree"] else "")



def geometric_mean(numbers):
    return math.exp(statistics.fmean(math.log(n) for n in numbers)) if numbers else float("nan")


def summary(rows):
    """Over all rows that a rival offers: the mean ratio to the best rival by workload, and the ten worst rows."""
    judged = [row for row in rows if row["ratio"] is not None]
    if not judged:
        return "no row has a rival\n"
    lines = [f"{len(judged)} rows: geometric mean {geometric_mean([r['ratio'] for r in judged]):.3f}, "
             f"{sum(r['ratio'] < 0.9 for r in judged)} below 0.9, {sum(bool(r['met']) for r in judged)} floors met"]
    for workload in dict.fromkeys(row["workload"] for row in judged):
        own = [row["ratio"] for row in judged if row["workload"] == workload]
        lines.append(f"  {workload:18} {len(own):3} rows  mean {geometric_mean(own):6.3f}  worst {min(own):6.3f}")
    lines.append("worst rows:")
    for row in sorted(judged, key=lambda r: r["ratio"])[:10]:
        lines.append(f"  {row['ratio']:.3f}  {row['workload']} {row['size']}, {row['threads']} threads, against {row['against']}")
    return "\n".join(lines) + "\n"


def markdown(rows, head):
    """The page docs/benchmarks.md."""
    lines = ["# Benchmarks", "",
             f"Measured on {head['date']}: {head['machine']}; threads: {', '.join(map(str, head['threads']))}; f32. Median of "
             f"{head['rounds']} rounds of {head['budget']:g} s,",
             "each of which runs all programs. A ratio is our speed over the rival's, round by round ([how it is measured](../bench/peers/README.md)).",
             "`bench/peers/run.py --markdown docs/benchmarks.md` writes this page.", "",
             "GFLOP/s count two operations for a multiplication and an addition; GB/s count each input read once and each result "
             "written once.", "",
             "| workload | size | threads | ours | rivals | ratio | to | floor | |", "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        rivals = sorted(((rate, label) for label, rate in row["rates"].items() if label != OURS), reverse=True)
        ours = row["rates"].get(OURS)
        met = {True: "met", False: "**not met**", None: ""}[row["met"]]
        if row["workload"] in NOTES and row["peak"]:
            met = NOTES[row["workload"]].format(peak=f"{row['peak'] / 1e6:.0f} MB")
        cells = [row["workload"], f"`{row['size']}`", str(row["threads"]), f"{short(ours)} {row['unit']}" if ours else "did not run",
                 ", ".join(f"{label} {short(rate)}" for rate, label in rivals),
                 f"{row['ratio']:.2g}" if row["ratio"] is not None else "", row["against"] or "",
                 f"{row['floor']:g}" if row["floor"] else "", met]
        lines.append("| " + " | ".join(cells) + " |")
    judged = [row for row in rows if row["met"] is not None]
    lines += ["", f"{sum(row['met'] for row in judged)} of {len(judged)} floors are met."]
    wrong = [f"{label} of {row['workload']} {row['size']}" for row in rows for label in row["disagree"]]
    if wrong:
        lines += ["", "Results that differ from those of most others, by more than their rounding should: " + "; ".join(wrong) + "."]
    return "\n".join(lines) + "\n"


BY_HAND = "\n<!-- by hand -->\n"


def write_page(path, rows, head):
    """Keeps the text below the table, which is written by hand."""
    _, mark, rest = (path.read_text(encoding="utf-8") if path.exists() else "").partition(BY_HAND)
    path.write_text(markdown(rows, head) + mark + rest, encoding="utf-8")


