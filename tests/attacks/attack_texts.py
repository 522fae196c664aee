"""Hostile texts and numbers."""

import csv
import json
import sys

from arena import ROOT, SMALL, is_shown, one_line

sys.path.insert(0, str(ROOT / "analysis"))

HOSTILE = ["\x1b]0;owned\x07", "\x1b[2J\x1b[31m", "\u009b31m", "\u202egnp.exe", "two\nlines", "tab\there", "=1+1", "+cmd|' /C calc'!A0",
           "-2+3", "@SUM(A1:A9)", "'=1", "\t=1", "a,b\"c\"", "é € 調", "\U0001F600", "", " ", "x" * 5000]


def labels_and_titles(arena):
    """control characters of labels, titles and names are shown, not obeyed"""
    for i, text in enumerate(HOSTILE):
        if not text.strip():
            continue
        study = SMALL | {"title": text, "algorithm": {"kind": "dense", "label": text}}
        arena.write("hostile.json", json.dumps(study))
        for command in (["check"], ["explain", "--point", "1"], ["run", "--out", f"o{i}"],
                        ["run", "--out", f"o{i}", "--log-json"]):
            ended = arena.run(command[0], "hostile.json", *command[1:])
            assert ended.code in (0, 2), (text, ended)
        if ended.code == 2:
            continue  # refused, in a line that judge() has seen
        table = arena.read(f"o{i}/table.txt").decode()
        assert all(c == "\n" or is_shown(c) for c in table), (text, table)
        assert "\n" not in text or text not in table, table


def formulas(arena):
    """a spreadsheet runs no field of the tables, and their readers get every label back"""
    from plots import common

    study = SMALL | {"sweep": {"algorithm": [{"kind": "dense", "label": text} for text in HOSTILE if text.strip() and len(text) < 99]}}
    arena.write("formulas.json", json.dumps(study))
    assert arena.run("run", "formulas.json", "--out", "o").code == 0
    with open(arena.path / "o/results.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    labels = [point["label"] for point in study["sweep"]["algorithm"]]
    assert [common.unmarked(row["algorithm"]) for row in rows] == labels
    for row in rows:
        for text in row.values():
            assert not text.startswith(("=", "+", "-", "@", "\t")) or common.number(text) is not None, text


def names_of_files(arena):
    """file names with control characters are shown, not obeyed"""
    name = "no\x1b[31m\n\x9bfile.json".encode("latin-1")
    for command in ("check", "run", "explain", "plot"):
        ended = arena.run(command, name.decode("utf-8", "surrogateescape")) if command != "x" else None
        assert ended.code == 2 and one_line(ended.err), ended
    arena.write("a b'c\".json", json.dumps(SMALL))
    assert arena.run("run", "a b'c\".json").code == 0


def settings(arena):
    """hostile settings are refused in a line each"""
    deep = "[" * 5000 + "]" * 5000
    for setting in ("", "=", "a", "a=", ".=1", "cluster..nodes=1", "cluster.nodes", "cluster.nodes=", "cluster.nodes=-1",
                    "cluster.nodes=0", "cluster.nodes=1e999", "cluster.nodes=1e18", "cluster.nodes=99999999999999999999",
                    "cluster.nodes=NaN", "cluster.nodes=2.5", "cluster.nodes=null", "cluster.nodes=" + deep,
                    "cluster.nodes=\x1b[31m", "stop.iterations=-1", "stop.iterations=1e300", "workload.step_time=-1s",
                    "workload.step_time=1e300s", "workload.step_time=NaNs", "workload.step_time=1e-300s",
                    "workload.gradient=1e300B", "workload.gradient=-1B", "cluster.fabric.link.bandwidth=0bps",
                    "cluster.fabric.link.bandwidth=1e400bps", "cluster.fabric.link.latency=-5ms",
                    "cluster.fabric.link.latency=١٢ms", "seed=-1", "seed=1e400", "seed=18446744073709551616",
                    "title=" + deep, "x" * 100000 + "=1", "sweep.seed=[]"):
        ended = arena.run("check", "small.json", "--set", setting, timeout=30)
        assert ended.code in (0, 2), (setting[:80], ended)
        if ended.code == 2:
            assert len(ended.err) < 2000 and ended.err.count(b"\n") <= 2, (setting[:80], ended)


def texts_that_are_no_scenario(arena):
    """texts that are no JSON, or JSON of another shape, are refused in a line for each fault"""
    for text in (b"", b"\0", b"{", b"[]", b"1", b"null", b"\"\\ud800\"", b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"{" * 100000,
                 b"{\"title\": \"\xff\"}", b"{\"a\": 1, \"a\": 2}", b"{\"title\": 1e999}", json.dumps(SMALL).encode()[:-1],
                 b"{\"\\u001b[31m\": 1}"):
        arena.write("text.json", text)
        ended = arena.run("check", "text.json")
        lines = ended.err.splitlines(keepends=True)
        assert ended.code == 2 and all(one_line(line) and line.startswith(b"paceline: text.json") for line in lines), (text[:40], ended)
        missing = [line for line in lines if b"is missing" in line]  # objects lack all four sections
        assert len(missing) == (4 if len(lines) > 1 else 0), (text[:40], ended)
