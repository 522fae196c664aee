"""Tests tools/import_network.py against routes, bandwidths and times that are worked out by hand.

    tests/tools/import_network_test.py [PACELINE]    with the program, also against the time of a run
"""

import contextlib
import csv
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import import_network  # noqa: E402

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else None
BITS = {"Tbps": 10**12, "Gbps": 10**9, "Mbps": 10**6, "kbps": 10**3, "bps": 1}
PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}


def quantity(text, units):
    unit = next(unit for unit in units if text.endswith(unit))
    return round(float(text[:-len(unit)]) * units[unit])


def matrix(rows, nics=""):
    """Returns the output of nvidia-smi topo -m for the words of each row."""
    gpus = [f"GPU{i}" for i in range(len(rows))]
    head = "\t" + "\t".join([*gpus, "NIC0", "CPU Affinity", "NUMA Affinity"])
    lines = [f"{gpu}\t" + "\t".join([*row.split(), "SYS", "0-15", "0"]) for gpu, row in zip(gpus, rows)]
    return "\n".join([head, *lines, "NIC0\t" + "SYS\t" * len(gpus) + " X", "", "Legend:", "  X    = Self"]) + "\n"


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "network.json"

    def call(self, texts, *options):
        files = []
        for name, text in texts.items():
            self.folder.joinpath(name).write_text(text)
            files.append(str(self.folder / name))
        said, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            code = import_network.main([*files, "--out", str(self.out), *options])
        return code, said.getvalue(), errors.getvalue()

    def imports(self, text, *options):
        code, self.said, errors = self.call(text if isinstance(text, dict) else {"in.txt": text}, *options)
        self.assertEqual((code, errors), (0, ""))
        self.made = json.loads(self.out.read_text())
        for line in self.made["left_out"]:
            self.assertIn(f"left out: {line}\n", self.said)
        self.fabric = self.made["cluster"]["fabric"]
        self.assertEqual(self.made["cluster"]["nodes"], len(self.made["names"]))

    def refuses(self, text, *names, options=()):
        code, _, errors = self.call(text if isinstance(text, dict) else {"in.txt": text}, *options)
        self.assertEqual((code, errors.count("\n"), self.out.exists()), (2, 1, False), errors)
        for name in names:
            self.assertIn(name, errors)

    def route(self, one, other):
        """Returns (ps, bits, hops) of the only way with the fewest cables that passes no node."""
        ends = {name: number for number, name in enumerate(self.made["names"])}
        start, goal = ends.get(one, one), ends.get(other, other)
        ways = [(start, [])]
        for _ in range(20):
            longer = []
            for at, cables in ways:
                for cable in self.fabric["cables"]:
                    if at in cable["between"] and (at == start or isinstance(at, str)):
                        to = cable["between"][1 - cable["between"].index(at)]
                        if cable not in cables:
                            longer.append((to, [*cables, cable]))
            found = [cables for at, cables in longer if at == goal]
            if found:
                self.assertEqual(len(found), 1)
                links = [cable["link"] for cable in found[0]]
                return (sum(quantity(link["latency"], PS) for link in links),
                        min(quantity(link["bandwidth"], BITS) for link in links), len(links))
            ways = longer
        raise AssertionError(f"no way from {one} to {other}")


class OfCsv(Test):
    STAR = "from,to,bandwidth,latency\n" + "".join(f"n{i},s,8Gbps,5us\n" for i in range(4))

    def test_names_with_one_cable_are_nodes(self):
        self.imports(self.STAR)
        self.assertEqual((self.made["names"], self.fabric["switches"]), (["n0", "n1", "n2", "n3"], ["s"]))
        self.assertEqual(self.route("n0", "n3"), (10 * 10**6, 8 * 10**9, 2))
        self.assertIn("nodes are the 4 names with one cable", self.said)

    def test_an_option_states_the_nodes_of_a_ring(self):
        ring = "from,to,bandwidth,efficiency,owner\na0,a1,1Gbps,0.9,x\na1,a2,1Gbps,0.9,x\na2,a0,12.5MBps,,x\n"
        self.refuses(ring, "has 0 nodes")
        self.imports(ring, "--nodes", "a*")
        self.assertEqual(self.route("a0", "a2"), (0, 10**8, 1))
        self.assertEqual(self.fabric["cables"][0]["link"]["efficiency"], 0.9)
        self.assertEqual(self.made["left_out"], ["columns owner"])

    def test_what_is_wrong_is_told_with_its_line(self):
        for row, name in (("a,a,1Gbps", "itself"), ("a,b,1Gb/s", "1Gb/s"), ("a,b", "cells"), (",b,1Gbps", "no name"),
                          ("a,b,0bps", "bandwidth")):
            with self.subTest(row):
                self.refuses(f"from,to,bandwidth\nx,b,1Gbps\n{row}\n", "in.txt: line 3: ", name)
        self.refuses("from,to,bandwidth\na,s,1Gbps\nb,s,1Gbps\nc,t,1Gbps\nd,t,1Gbps\n", "no path leads from \"a\" to \"c\"")
        self.refuses("one two\n", "no known format")

    def test_other_files_are_kept(self):
        self.out.write_text("mine")
        code, _, errors = self.call({"in.txt": self.STAR})
        self.assertEqual((code, self.out.read_text()), (2, "mine"), errors)
        self.imports(self.STAR, "--force")
        self.imports(self.STAR.replace("5us", "6us"))
        self.out.write_text(self.out.read_text().replace("6us", "7us", 1))
        self.assertEqual(self.call({"in.txt": self.STAR})[0], 2)
        self.assertEqual(self.call({"network.json": self.STAR}, "--force")[0], 2)

    @unittest.skipUnless(PROGRAM, "needs the program")
    def test_a_ring_all_reduce_takes_as_long_as_on_the_fabric_star(self):
        self.imports(self.STAR)
        scenario = {"title": "t", "cluster": {"testbed": "network.json"}, "workload": {"gradient": "4MB", "step_time": "0s"},
                    "algorithm": {"kind": "collective", "operation": "all-reduce", "all_reduce": "ring"}, "stop": {"iterations": 1}}
        star = {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "8Gbps", "latency": "5us"}}}
        for one in (scenario, {**scenario, "cluster": star}):
            self.folder.joinpath("scenario.json").write_text(json.dumps(one))
            subprocess.run([PROGRAM, "run", "--quiet", "scenario.json", "--out", "results"], cwd=self.folder, check=True,
                           capture_output=True)
            row = next(csv.DictReader(self.folder.joinpath("results", "results.csv").read_text().splitlines()))
            self.assertAlmostEqual(float(row["step_time_s"]), 2 * 3 * (10e-6 + 1e6 * 8 / 8e9), delta=1e-12)


class OfSimGrid(Test):
    def platform(self, body):
        return f"<?xml version='1.0'?>\n<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">{body}</zone></platform>"

    LINKS = "".join(f'<link id="{name}" bandwidth="{rate}" latency="{time}"/>' for name, rate, time in
                    (("l1", "10MBps", "100us"), ("mid", "5MBps", "1ms"), ("l2", "20MBps", "200us"), ("l3", "40Mbps", "0.3ms")))
    HOSTS = "".join(f'<host id="{name}" speed="1Gf"/>' for name in "abc")

    def path(self, one, other, *links):
        return f'<route src="{one}" dst="{other}">' + "".join(f'<link_ctn id="{name}"/>' for name in links) + "</route>"

    def test_routes_of_several_links_become_a_tree(self):
        self.imports(self.platform(self.HOSTS + self.LINKS + self.path("a", "b", "l1", "mid", "l2")
                                   + self.path("a", "c", "l1", "mid", "l3") + self.path("b", "c", "l2", "l3")))
        self.assertEqual(self.route("a", "b"), (1300 * 10**6, 40 * 10**6, 3))
        self.assertEqual(self.route("a", "c"), (1400 * 10**6, 40 * 10**6, 3))
        self.assertEqual(self.route("b", "c"), (500 * 10**6, 40 * 10**6, 2))
        self.assertIn("SHARED of l1, mid, l2, l3: both directions", self.said)
        self.assertIn("speeds", self.said)

    def test_a_host_that_passes_on_gets_a_switch(self):
        self.imports(self.platform(self.HOSTS + self.LINKS + self.path("a", "b", "l1") + self.path("b", "c", "l2")
                                   + self.path("a", "c", "l1", "l2")))
        self.assertEqual(self.route("a", "c"), (300 * 10**6, 80 * 10**6, 2))
        self.assertEqual(self.route("a", "b"), (100 * 10**6, 80 * 10**6, 2))

    def test_clusters_have_their_links_backbone_and_routes(self):
        cluster = ('<cluster id="{0}" prefix="{0}-" suffix=".x" radical="0-2,5" speed="1Gf" bw="125MBps" lat="50us" bb_bw="{1}" '
                   'bb_lat="500us"/>')
        two = cluster.format("p", "2GBps") + cluster.format("q", "2GBps")
        between = ('<link id="w" bandwidth="1MBps" latency="7ms" sharing_policy="SPLITDUPLEX"/><zoneRoute src="p" dst="q" '
                   'gw_src="p-p_router.x" gw_dst="q-q_router.x"><link_ctn id="w"/></zoneRoute>')
        self.imports(self.platform(two + between))
        self.assertEqual(len(self.made["names"]), 8)
        self.assertEqual(self.route("p-0.x", "p-5.x")[:2], (600 * 10**6, 10**9))
        self.assertEqual(self.route("p-0.x", "q-2.x")[:2], ((50 + 500 + 7000 + 500 + 50) * 10**6, 8 * 10**6))
        narrow = self.platform(cluster.format("p", "400MBps"))
        self.out.unlink()
        self.refuses(narrow, "cluster \"p\"", "backbone", "--leave-out-shared")
        self.imports(narrow, "--leave-out-shared")
        self.assertIn("left out: backbone of cluster p", self.said)

    def test_a_route_without_a_way_back_is_named_and_one_that_differs_is_refused(self):
        there = self.path("a", "b", "l1").replace("dst=\"b\"", "dst=\"b\" symmetrical=\"NO\"")
        two = self.HOSTS.split("<host id=\"c\"")[0] + self.LINKS
        self.imports(self.platform(two + there))
        self.assertIn("left out: that a to b has no way back", self.said)
        self.imports(self.platform(two + there + self.path("b", "a", "l1").replace("dst=\"a\"", "dst=\"a\" symmetrical=\"NO\"")))
        self.assertNotIn("no way back", self.said)
        self.out.unlink()
        self.refuses(self.platform(two + there + self.path("b", "a", "l2")), "\"a\"", "\"b\"")

    def test_what_is_no_graph_is_refused_by_name(self):
        bus = self.path("a", "b", "l1") + self.path("b", "c", "l1") + self.path("a", "c", "l1")
        odd = self.path("a", "b", "l1") + self.path("b", "c", "l2") + self.path("a", "c", "l1", "mid", "l2")
        for body, name in ((bus, "\"l1\""), (odd, "\"mid\""), ('<bypassRoute src="a" dst="b"/>', "bypassRoute"),
                           ('<link id="f" bandwidth="1Bps" latency="0" sharing_policy="WIFI"/>', "\"f\""),
                           ('<cluster id="t" topology="TORUS" radical="0-3" bw="1Bps" lat="0"/>', "TORUS"),
                           (self.path("a", "b", "none"), "\"none\""), (self.path("a", "d", "l1"), "\"d\"")):
            with self.subTest(body[:60]):
                self.refuses(self.platform(self.HOSTS + self.LINKS + body), name)
        fat = self.LINKS.replace('latency="100us"', 'latency="100us" sharing_policy="FATPIPE"')
        self.refuses(self.platform(self.HOSTS.split("<host id=\"c\"")[0] + fat + self.path("a", "b", "l1")), "FATPIPE", "l1")
        self.refuses("<platform version=\"3\"/>", "version")
        self.refuses("<platform", "not XML")


class OfNvidia(Test):
    def test_a_dgx_1_has_direct_links_and_pcie_between_sockets(self):
        rows = ["X NV1 NV1 NV2 NV2 SYS SYS SYS", "NV1 X NV2 NV1 SYS NV2 SYS SYS", "NV1 NV2 X NV2 SYS SYS NV1 SYS",
                "NV2 NV1 NV2 X SYS SYS SYS NV1", "NV2 SYS SYS SYS X NV1 NV1 NV2", "SYS NV2 SYS SYS NV1 X NV2 NV1",
                "SYS SYS NV1 SYS NV1 NV2 X NV2", "SYS SYS SYS NV1 NV2 NV1 NV2 X"]
        self.imports(matrix(rows), "--nvlink", "nvlink-2", "--pcie", "12GBps,4us")
        self.assertEqual(sum(all(isinstance(end, int) for end in cable["between"]) for cable in self.fabric["cables"]), 16)
        self.assertEqual(self.route("GPU0", "GPU3"), (830_000, 400 * 10**9, 1))
        self.assertEqual(self.route("GPU0", "GPU7"), (4 * 10**6, 96 * 10**9, 2))
        self.assertIn("NIC0", self.said)

    def test_counts_above_a_gpus_links_are_an_nvswitch(self):
        rows = [" ".join("X" if i == j else "NV18" for j in range(8)) for i in range(8)]
        self.imports(matrix(rows), "--nvlink", "nvlink-4")
        self.assertEqual(self.fabric["switches"], ["NVSwitch"])
        self.assertEqual(self.route("GPU0", "GPU7"), (830_000, 3600 * 10**9, 2))
        four = [" ".join("X" if i == j else "NV4" for j in range(4)) for i in range(4)]
        self.imports(matrix(four), "--nvlink", "nvlink-3")
        self.assertEqual((self.fabric["switches"], len(self.fabric["cables"])), ([], 6))

    def test_pcie_is_a_tree_of_the_nearest_pairs(self):
        rows = ["X PIX SYS SYS", "PIX X SYS SYS", "SYS SYS X PIX", "SYS SYS PIX X"]
        self.imports(matrix(rows), "--pcie", "20GBps,2us", "--smp", "10GBps,6us")
        self.assertEqual(len(self.fabric["switches"]), 3)
        self.assertEqual(self.route("GPU0", "GPU1"), (2 * 10**6, 160 * 10**9, 2))
        self.assertEqual(self.route("GPU0", "GPU2"), (8 * 10**6, 80 * 10**9, 4))
        self.imports(matrix(["X PHB", "PHB X"]).replace("\t", "   "), "--pcie", "pcie-4.0-x16")
        self.assertEqual(self.route("GPU0", "GPU1"), (10**6, 252064 * 10**6, 2))

    def test_what_does_not_fit_is_refused(self):
        self.refuses(matrix(["X NV2", "NV2 X"]), "--nvlink")
        self.refuses(matrix(["X PHB", "PHB X"]), "--pcie")
        self.refuses(matrix(["X PHB", "SYS X"]), "GPU0 to GPU1")
        self.refuses(matrix(["X OK", "OK X"]), "OK")
        self.refuses(matrix(["X PIX PIX", "PIX X SYS", "PIX SYS X"]), "GPU1", "SYS", options=("--pcie", "1GBps"))
        self.refuses(matrix(["X NV18 NV2", "NV18 X NV2", "NV2 NV2 X"]), "NVSwitch", options=("--nvlink", "nvlink-4"))


class OfSlurm(Test):
    TREE = ("# two leaves and a top\nSwitchName=leaf0 \\\n  Nodes=tux[08-10,12]\n"
            "switchname=leaf1 NODES=tux[13-14],login LinkSpeed=9 # last\nSwitchName=top Switches=leaf[0-1]\n")

    def test_host_lists_make_the_nodes_of_a_tree(self):
        self.imports(self.TREE, "--link", "25Gbps,2us", "--uplink", "100Gbps,3us")
        self.assertEqual(self.made["names"], ["tux08", "tux09", "tux10", "tux12", "tux13", "tux14", "login"])
        self.assertEqual(self.route("tux08", "tux12"), (4 * 10**6, 25 * 10**9, 2))
        self.assertEqual(self.route("tux08", "login"), (10 * 10**6, 25 * 10**9, 4))
        self.assertIn("LinkSpeed of leaf1", self.said)

    def test_a_switch_may_have_several_parents(self):
        self.imports(self.TREE + "SwitchName=top2 Switches=leaf[0-1]\n", "--link", "25GbE-tcp", "--uplink", "100GbE-tcp")
        self.assertEqual(sum("leaf0" in c["between"] and c["between"][1].startswith("top") for c in self.fabric["cables"]), 2)

    def test_what_does_not_fit_is_refused(self):
        self.refuses(self.TREE, "--link")
        link = ("--link", "1Gbps", "--uplink", "1Gbps")
        for text, name in (("BlockName=b1 Nodes=a[0-3]\n", "topology/block"), ("SwitchName=s Switches=t\n", "\"t\""),
                           ("SwitchName=s Nodes=a[3-1]\n", "3-1"), ("SwitchName=s\n", "neither"), ("SwitchName=s Nodes=a[0-\n", "a[0-"),
                           ("SwitchName=s Nodes=a\nSwitchName=s Nodes=b\n", "twice"), ("SwitchName=s Node=a\n", "Node=a")):
            with self.subTest(text):
                self.refuses(text, name, options=link)
        self.refuses(self.TREE, "--uplink", options=link[:2])


class OfIperf(Test):
    def run_of(self, client, server, bits, rtt_us, **test):
        return json.dumps({"start": {"connected": [{"local_host": client, "remote_host": server}],
                                     "connecting_to": {"host": server}, "test_start": {"protocol": "TCP", **test}},
                           "end": {"streams": [{"sender": {"mean_rtt": rtt_us}}], "sum_received": {"bits_per_second": bits}}})

    def runs(self):
        return {"1.json": self.run_of("10.0.0.1", "10.0.0.2", 900e6, 30000), "2.json": self.run_of("10.0.0.2", "10.0.0.1", 700e6, 34000),
                "3.json": self.run_of("10.0.0.1", "10.0.0.3", 80e6, 8000), "4.json": self.run_of("10.0.0.3", "10.0.0.2", 60e6, 5000)}

    def test_a_pair_has_half_the_round_trip_and_what_was_received(self):
        self.imports(self.runs(), "--site", "east=10.0.0.1", "--site", "west=10.0.0.2")
        self.assertEqual(self.made["names"], ["10.0.0.3", "east", "west"])
        self.assertEqual(self.route("east", "west"), (16 * 10**9, 700 * 10**6, 1))
        self.assertEqual(self.route("east", "10.0.0.3"), (4 * 10**9, 80 * 10**6, 1))
        self.assertIn("east and west: the smaller of both", self.said)
        self.imports(self.runs(), "--both", "mean")
        self.assertEqual(self.route("10.0.0.1", "10.0.0.2")[1], 800 * 10**6)

    def test_a_site_may_have_several_nodes_and_files_may_name_sites(self):
        self.imports({"here-to-there.json": self.run_of("a", "b", 1e9, 2000)}, "--nodes-per-site", "3", "--link", "10Gbps,1us")
        self.assertEqual(self.route("here/0", "there/2"), (1002 * 10**6, 10**9, 3))

    def test_a_short_measurement_is_named(self):
        self.imports(self.run_of("a", "b", 1e9, 2000).replace('"sum_received": {', '"sum_received": {"seconds": 0.25, '))
        self.assertIn("note: a and b: measured for 0.25 s", self.said)

    def test_what_was_not_measured_is_refused(self):
        runs = self.runs()
        del runs["4.json"]
        self.refuses(runs, "10.0.0.2 and 10.0.0.3")
        for text, name in ((self.run_of("a", "b", 1e9, 0), "mean_rtt"), (self.run_of("a", "a", 1e9, 1), "itself"),
                           (self.run_of("a", "b", 0, 1), "bits_per_second"), (self.run_of("a", "b", 1e9, 1, bidir=1), "--bidir"),
                           (self.run_of("a", "b", 1e9, 1).replace("TCP", "UDP"), "--udp"),
                           ('{"start": {}, "end": {}, "error": "refused"}', "refused")):
            with self.subTest(name):
                self.refuses(text, name)


if __name__ == "__main__":
    unittest.main()
