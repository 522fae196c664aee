"""Writes docs/claims.md, and compares it with what quick studies give."""
import os
import sys

from . import claim as of
from .studies import RATE, ROOT, TUNING_SEEDS, path, scenario

PAGE = os.path.join(ROOT, "docs", "claims.md")
BEGIN, END = "<!-- tables: tools/claims.py -->", "<!-- end of tables -->"
HEAD = "| | claim | where | command | published | here | status |\n|---|---|---|---|---|---|---|"


def command(claim):
    if not claim.studies:
        return "-"
    if any(RATE in scenario(name).get("sweep", {}) for name in claim.studies):
        return f"`make claims CLAIM={claim.id}`"
    return "<br>".join(f"`paceline run {path(name)}`" for name in claim.studies)


def fixed_cells(claim):
    return [claim.id, claim.says, claim.where, command(claim), claim.published]


def row(claim, outcome):
    status = outcome.status if outcome.status == of.SHOWN else f"**{outcome.status}**"
    if outcome.why:
        status += f": {outcome.why}"
    return "| " + " | ".join([*fixed_cells(claim), outcome.here, status]) + " |"


def in_words(claim, outcome):
    why = f": {outcome.why}" if outcome.why else ""
    return (f"{claim.id}  {claim.says} ({claim.where})\n    published  {claim.published}\n"
            f"    here       {outcome.here}\n    status     {outcome.status}{why}")


def rates(papers, studies):
    """Returns the table of the rates that were chosen."""
    lines = ["| study | case | learning rate | grid |", "|---|---|---|---|"]
    for name in dict.fromkeys(name for paper in papers for claim in paper.claims for name in claim.studies):
        for place, (rate, grid) in sorted(studies.get(name).chosen.items()):
            case = ", ".join(str(value) for _, value in place)
            lines.append(f"| `{path(name)}` | {case} | {rate or 'none reaches the target'} | {', '.join(grid)} |")
    return lines


def write(papers, studies):
    counts = dict.fromkeys((of.SHOWN, of.NOT_MET, of.NOT_SIMULATED), 0)
    parts, missed = [], []
    for paper in papers:
        lines = [f"## {paper.name}", "", HEAD]
        for claim in paper.claims:
            outcome = claim.outcome(studies)
            counts[outcome.status] += 1
            lines.append(row(claim, outcome))
            if outcome.status != of.SHOWN:
                missed.append(in_words(claim, outcome))
        parts.append("\n".join(lines))
    summary = f"**{sum(counts.values())} claims: " + ", ".join(f"{n} {status}" for status, n in counts.items()) + ".**"
    chosen = "\n".join(["## Learning rates", "",
                        f"Chosen on the seeds {', '.join(map(str, TUNING_SEEDS))}, which no row shows.", "",
                        *rates(papers, studies)])
    with open(PAGE, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    text = before + BEGIN + "\n\n" + "\n\n".join([summary, *parts, chosen]) + "\n\n" + END + rest.split(END)[1]
    with open(PAGE + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(PAGE + ".new", PAGE)
    print("\n\n".join(missed))
    print(f"wrote {os.path.relpath(PAGE, ROOT)}: {summary.strip('*')}")


def quick(claim):
    """Whether its studies take seconds: nothing trains."""
    return claim.show is not None and all(
        RATE not in scenario(name).get("sweep", {}) and "profile" in scenario(name)["workload"]
        for name in claim.studies)


def differences(papers, studies):
    """Returns lines of the page that differ: whole rows of quick claims, the fixed cells of the others."""
    with open(PAGE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    wrong, seen = [], 0
    for paper in papers:
        for claim in paper.claims:
            shown = [line for line in lines if line.startswith(f"| {claim.id} |")]
            if quick(claim):
                wanted = row(claim, claim.outcome(studies))
                if shown != [wanted]:
                    wrong.append(f"page: {shown}\nhere: {wanted}")
                seen += 1
            elif len(shown) != 1 or not shown[0].startswith("| " + " | ".join(fixed_cells(claim)) + " |"):
                wrong.append(f"page: {shown}\nhere: {fixed_cells(claim)}")
    print(f"claims: ran the studies of {seen} claims; of the others, only the fixed cells were compared")
    return wrong
