"""What is made of measurements: ratios, rows of a table, the page docs/performance.md, and a summary over all rows."""
import math
import statistics

OURS = "tapestry"

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


def over_rows(rows):
    """The cells of a summary: how many rows, the mean and the worst ratio to the best rival, how many are below 0.9."""
    ratios = [row["ratio"] for row in rows]
    worst = min(rows, key=lambda row: row["ratio"])
    return [str(len(ratios)), f"{geometric_mean(ratios):.2f}", f"{worst['ratio']:.2f}", f"`{worst['size']}`", worst["against"],
            str(sum(ratio < 0.9 for ratio in ratios))]


def markdown(rows, head):
    """The page docs/performance.md."""
    judged = [row for row in rows if row["ratio"] is not None]
    lines = ["# Performance", "",
             f"Native code compared with the best of the libraries that a user would use instead. Measured on {head['date']}: {head['machine']}.",
             f"Median of {head['rounds']} rounds of {head['budget']:g} s, each of which runs all programs; a ratio is our speed over that of the "
             "best rival, round by round",
             "([how it is measured](../bench/peers/README.md)). Programs run as a user gets them: no plan, no options. Sizes are the predefined "
             "ones and random ones.", "", "```", head["command"], "```", ""]
    for threads in head["threads"]:
        own = [row for row in judged if row["threads"] == threads]
        if not own:
            continue
        ratios = [row["ratio"] for row in own]
        limits = head["limits"].get(threads) or {}
        measured = ", ".join(f"{name.replace('_', '-')} {short(rate)}" for name, rate in limits.items())
        lines += [f"## {threads} thread{'s' if threads > 1 else ''}", "",
                  f"{len(own)} rows: geometric mean **{geometric_mean(ratios):.2f}** of the best rival; {sum(r < 0.9 for r in ratios)} rows below 0.9; "
                  f"{sum(bool(row['met']) for row in own)} floors met. The machine's limits beside (GB/s, GFLOP/s): {measured}.", "",
                  "| workload | rows | mean | worst | its size | against | below 0.9 |", "|---|---|---|---|---|---|---|"]
        for workload in dict.fromkeys(row["workload"] for row in own):
            of_it = [row for row in own if row["workload"] == workload]
            lines.append("| " + " | ".join([workload] + over_rows(of_it)) + " |")
        lines += ["", "The ten worst rows:", "", "| ratio | workload | size | ours | best rival |", "|---|---|---|---|---|"]
        for row in sorted(own, key=lambda r: r["ratio"])[:10]:
            lines.append(f"| {row['ratio']:.2f} | {row['workload']} | `{row['size']}` | {short(row['rates'][OURS])} {row['unit']} | "
                         f"{row['against']} {short(row['rates'][row['against']])} |")
        lines.append("")
    wrong = [f"{label} of {row['workload']} {row['size']}" for row in rows for label in row["disagree"]]
    if wrong:
        lines += ["Results that differ from those of most others, by more than their rounding should: " + "; ".join(wrong) + "."]
    return "\n".join(lines).rstrip() + "\n"


def csv(rows):
    """All rows: our rate, the share of the machine's limit, the ratio to the best rival, and the rates of all."""
    lines = ["workload,size,threads,unit,ours,of_limit,ratio,against,floor,met,rivals"]
    for row in rows:
        rivals = sorted(((rate, label) for label, rate in row["rates"].items() if label != OURS), reverse=True)
        number = lambda value: "" if value is None else f"{value:.3f}"
        cells = [row["workload"], f'"{row["size"]}"', str(row["threads"]), row["unit"], short(row["rates"].get(OURS, 0)),
                 number(row.get("of_limit")), number(row["ratio"]), row["against"] or "", f"{row['floor']:g}" if row["floor"] else "",
                 {True: "yes", False: "no", None: ""}[row["met"]], " ".join(f"{label}={short(rate)}" for rate, label in rivals)]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


BY_HAND = "\n<!-- by hand -->\n"


def write_page(path, rows, head):
    """Keeps the text below the table, which is written by hand."""
    _, mark, rest = (path.read_text(encoding="utf-8") if path.exists() else "").partition(BY_HAND)
    path.write_text(markdown(rows, head) + mark + rest, encoding="utf-8")


