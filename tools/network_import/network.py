"""Nodes, switches and cables: checked for what the fabric `graph` asks, and written as a file that a scenario names."""

import json

from .values import Fault, name_list, printable, shown

MOST_SWITCHES = 4096  # of a graph, as in topologies/fabrics/graph.hpp
MOST_NODES = 100_000
MOST_CABLES = 1_000_000


class Network:
    """Vertices by name. Nodes have numbers in the order in which they were added."""

    def __init__(self, file, kind):
        self.file, self.kind = file, kind
        self.nodes, self.switches = {}, {}  # name: number; dictionaries keep their order
        self.cables, self.said, self.left_out = [], [], []

    def refuse(self, problem):
        raise Fault(f"{self.file}: {problem}")

    def node(self, name):
        self._add(self.nodes, self.switches, name, MOST_NODES, "nodes")

    def switch(self, name):
        self._add(self.switches, self.nodes, name, MOST_SWITCHES, "switches")

    def _add(self, own, other, name, most, what):
        if not name or printable(name, 10**6) != name:
            self.refuse(f"{shown(name)} is not a name; printable characters")
        if name in other:
            self.refuse(f"{shown(name)} is both a node and a switch")
        own.setdefault(name, len(own))
        if len(own) > most:
            self.refuse(f"has more than {most} {what}")

    def cable(self, one, other, link):
        if one == other:
            self.refuse(f"a cable joins {shown(one)} to itself; it has two different ends")
        self.cables.append((one, other, link))
        if len(self.cables) > MOST_CABLES:
            self.refuse(f"has more than {MOST_CABLES} cables")

    def say(self, text):
        self.said.append(text)

    def leave_out(self, text):
        self.left_out.append(text)

    def check(self):
        """Refuses what no graph is: too few nodes, or nodes without a way that leads over switches alone."""
        if len(self.nodes) < 2:
            self.refuse(f"has {len(self.nodes)} nodes; a network has two or more")
        reached = {name: name for name in self.switches}

        def root(name):
            while reached[name] != name:
                reached[name] = name = reached[reached[name]]
            return name

        for one, other, _ in self.cables:
            if one in self.switches and other in self.switches:
                reached[root(one)] = root(other)
        parts, direct = {name: set() for name in self.nodes}, {name: set() for name in self.nodes}
        for one, other, _ in self.cables:
            for a, b in ((one, other), (other, one)):
                if a in self.nodes:
                    (parts if b in self.switches else direct)[a].add(root(b) if b in self.switches else b)
        self._check_ways(parts, direct)

    def _check_ways(self, parts, direct):
        bare = [name for name in self.nodes if not parts[name] and not direct[name]]
        if bare:
            self.refuse(f"no cable leads to {name_list(bare)}")
        if set.intersection(*parts.values()):
            return
        if len(self.nodes) > 2000:
            self.refuse("no one connected part of the switches has a cable to every node")
        names = list(self.nodes)
        for i, one in enumerate(names):
            for other in names[:i]:
                if not parts[one] & parts[other] and other not in direct[one]:
                    self.refuse(f"no path leads from {shown(other)} to {shown(one)}: switches forward messages and nodes do not")

    def text(self):
        """Returns the file's text, with a line for each cable."""
        ends = {**self.nodes, **{name: name for name in self.switches}}
        head = {"title": f"Network of {printable(self.file)}", "source": f"{printable(self.file)}: {self.kind}",
                "names": list(self.nodes), "left_out": self.left_out}
        rows = ",\n".join("        " + json.dumps({"between": [ends[a], ends[b]], "link": link}) for a, b, link in self.cables)
        start = json.dumps(head, indent=2)[:-2]
        return (f'{start},\n  "cluster": {{\n    "nodes": {len(self.nodes)},\n    "fabric": {{\n      "kind": "graph",\n'
                f'      "switches": {json.dumps(list(self.switches))},\n      "cables": [\n{rows}\n      ]\n    }}\n  }}\n}}\n')
