"""SimGrid's platform XML, version 4: the routes of a platform as cables, and a refusal where they are none.

SimGrid lists routes, a graph lists cables. Consecutive links of a route share a point, so the routes of a tree say where
each link ends. In the end every route that the file states is looked up in the graph: the way with the fewest cables must
be the only one, and have these links.
"""

import re
import xml.etree.ElementTree as ElementTree
from decimal import Decimal, InvalidOperation

from .network import Network
from .values import Fault, checked_bits, checked_ps, link, name_list, shown

RATE = re.compile(r"([0-9.eE+-]+?)\s*(|k|Ki|M|Mi|G|Gi|T|Ti)(Bps|bps)?")
TIMES = {"": 1, "s": 1, "ms": Decimal("1e-3"), "us": Decimal("1e-6"), "ns": Decimal("1e-9"), "ps": Decimal("1e-12"), "m": 60, "h": 3600}
SIZES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
ZONES = ("zone", "AS")
REFUSED = ("bypassRoute", "bypassASroute", "bypassZoneRoute", "peer", "cabinet", "include", "trunk")
UNREAD = ("prop", "config", "disk", "storage", "storage_type", "mstorage", "mount", "trace", "trace_connect", "random", "process",
          "actor", "argument")
ROUTINGS = ("Full", "Floyd", "Dijkstra", "DijkstraCache", "Empty", "None")
WIDE = 10**15  # bits per second of what SimGrid gives no bound


def is_kind(text):
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def decimal(text, place, what):
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or abs(value) > 10**30:
        raise Fault(f"{place}: {shown(text)} is no {what}")
    return value


def rate_of(text, place):
    match = RATE.fullmatch((text or "").strip())
    if not match:
        raise Fault(f"{place}: {shown(text)} is not a bandwidth of SimGrid, such as 125MBps")
    value = decimal(match[1], place, "bandwidth of SimGrid") * SIZES[match[2]]
    return checked_bits(value * (1 if match[3] == "bps" else 8), place)


def latency_of(text, place):
    match = re.fullmatch(r"([0-9.eE+-]+?)\s*([a-z]*)", (text or "0").strip())
    if not match or match[2] not in TIMES:
        raise Fault(f"{place}: {shown(text)} is not a latency of SimGrid, such as 50us")
    return checked_ps(decimal(match[1], place, "latency of SimGrid") * TIMES[match[2]] * 10**12, place)


def numbers_of(radical, place):
    for part in radical.split(","):
        match = re.fullmatch(r"\s*(\d{1,7})(?:-(\d{1,7}))?\s*", part)
        if not match:
            raise Fault(f"{place}: radical {shown(radical)} is not a list of numbers, such as 0-29,58")
        yield from range(int(match[1]), int(match[2] or match[1]) + 1)


class Platform:
    """What a file states: hosts, routers, links, routes, and the cables that clusters are made of."""

    def __init__(self, network, options):
        self.network, self.shared_may_go = network, options.leave_out_shared
        self.hosts, self.routers, self.links, self.routes = {}, {}, {}, []
        self.ready = []  # cables (one, other, bits, ps) of clusters
        self.one_way, self.half_duplex, self.unread, self.speeds = [], [], {}, False

    def refuse(self, problem):
        self.network.refuse(problem)

    def visit(self, element):
        tag, name = element.tag, element.get("id", "")
        place = f"{self.network.file}: {tag} {shown(name)}" if name else f"{self.network.file}: {tag}"
        if tag in REFUSED:
            self.refuse(f"{tag} {shown(name or element.get('src', ''))} is not a part of a graph of cables")
        if tag in UNREAD:
            self.unread[tag] = self.unread.get(tag, 0) + 1
        elif tag in ZONES:
            self.zone(element, name)
        elif tag == "cluster":
            self.cluster(element, place)
        elif tag == "link":
            self.link(element, name, place)
        elif tag in ("host", "router"):
            self.vertex(element, name, tag)
        elif tag in ("route", "zoneRoute", "ASroute"):
            self.route(element)
        else:
            raise Fault(f"{place}: the element is unknown; it is read by no rule, so the file is refused")

    def zone(self, element, name):
        routing = element.get("routing", "")
        if routing not in ROUTINGS:
            self.refuse(f"zone {shown(name)} has routing {shown(routing)}; {', '.join(ROUTINGS)} are converted, and <cluster>")
        for child in element:
            self.visit(child)

    def vertex(self, element, name, tag):
        if not name or name in self.hosts or name in self.routers:
            self.refuse(f"{tag} {shown(name)} has no name of its own")
        (self.hosts if tag == "host" else self.routers)[name] = True
        self.speeds = self.speeds or tag == "host"
        for child in element:
            self.visit(child)

    def link(self, element, name, place):
        if not name or name in self.links:
            raise Fault(f"{place}: has no name of its own")
        policy = element.get("sharing_policy", "SHARED").upper()
        for key in ("bandwidth_file", "latency_file", "state_file"):
            if element.get(key):
                self.unread[key] = self.unread.get(key, 0) + 1
        if policy == "WIFI":
            raise Fault(f"{place}: is of wifi, whose rate depends on the station; no cable has that")
        if policy not in ("SHARED", "SPLITDUPLEX", "FULLDUPLEX", "FATPIPE"):
            raise Fault(f"{place}: sharing_policy {shown(policy)} is unknown; SHARED, SPLITDUPLEX or FATPIPE")
        rate = element.get("bandwidth") or ""
        if "," in rate:
            raise Fault(f"{place}: has several bandwidths; a cable has one")
        self.links[name] = (rate_of(rate, place), latency_of(element.get("latency"), place), policy)
        for child in element:
            self.visit(child)

    def route(self, element):
        source = element.get("gw_src") or element.get("gwSrc") or element.get("src")
        target = element.get("gw_dst") or element.get("gwDst") or element.get("dst")
        used = []
        for child in element:
            if child.tag not in ("link_ctn", "link_ctrn"):
                self.refuse(f"a route from {shown(source)} has {shown(child.tag)}; only link_ctn is read")
            used.append(child.get("id", ""))
        if source != target:
            self.routes.append((source, target, used))
            if element.get("symmetrical", "YES").upper() in ("NO", "FALSE", "0"):
                self.one_way.append((source, target))

    def cluster(self, element, place):
        name = element.get("id", "")
        if element.get("topology", "FLAT").upper() != "FLAT":
            raise Fault(f"{place}: has topology {shown(element.get('topology'))}; use the fabric of that name, or list its cables")
        rate, latency = rate_of(element.get("bw"), place), latency_of(element.get("lat"), place)
        prefix, suffix = element.get("prefix", ""), element.get("suffix", "")
        hosts = [f"{prefix}{number}{suffix}" for number in numbers_of(element.get("radical", ""), place)]
        if len(hosts) > 4 * 10**4:
            raise Fault(f"{place}: has {len(hosts)} hosts; 40000 are converted at most")
        if element.get("limiter_link"):
            raise Fault(f"{place}: has a limiter_link, one capacity of what a host sends and receives; no cable has that")
        policy = element.get("sharing_policy", "SPLITDUPLEX").upper()
        if policy == "SHARED":
            self.half_duplex.append(f"the hosts of {name}")
        elif policy not in ("SPLITDUPLEX", "FULLDUPLEX"):
            raise Fault(f"{place}: sharing_policy {shown(policy)} of its hosts is not a cable's")
        for key in ("loopback_bw", "loopback_lat"):
            if element.get(key):
                self.unread[key] = self.unread.get(key, 0) + 1
        core = f"{name} core"
        router = element.get("router_id") or f"{prefix}{name}_router{suffix}"
        self.routers[core] = self.routers[router] = True
        bone = self.backbone(element, place, len(hosts) * rate)
        for host in hosts:
            self.vertex(element=ElementTree.Element("host"), name=host, tag="host")
            self.ready.append((host, core, rate, latency + bone[1] // 2))
        self.ready.append((core, router, bone[0], bone[1] - bone[1] // 2))
        for child in element:
            self.visit(child)

    def backbone(self, element, place, needed):
        """Returns (bits, ps) of a cluster's backbone, which all messages within it cross once."""
        if not element.get("bb_bw"):
            return WIDE, 0
        bits, ps = rate_of(element.get("bb_bw"), place), latency_of(element.get("bb_lat"), place)
        if element.get("bb_sharing_policy", "SHARED").upper() != "FATPIPE" and bits < needed:
            if not self.shared_may_go:
                raise Fault(f"{place}: all its messages share a backbone of {bits} bits per second, and its hosts can send "
                            f"{needed}; no cable says that. --leave-out-shared takes it for a switch that blocks nobody")
            self.network.leave_out(f"backbone of cluster {element.get('id')}: its hosts share {bits} bits per second")
        return bits, ps


class Points:
    """Where links end: points that routes show to be the same are one."""

    def __init__(self):
        self.root_of = {}

    def find(self, point):
        self.root_of.setdefault(point, point)
        while self.root_of[point] != point:
            self.root_of[point] = point = self.root_of[self.root_of[point]]
        return point

    def join(self, one, other):
        self.root_of[self.find(one)] = self.find(other)


def lay(platform, points, source, target, used):
    """Puts the links of a route end to end."""
    at = points.find(("vertex", source))
    for number, name in enumerate(used):
        ends = [points.find((name, side)) for side in (0, 1)]
        if at in ends:
            at = ends[1 - ends.index(at)]
            continue
        near = 0
        if number + 1 < len(used):  # the end that the next link does not touch comes first
            following = {points.find((used[number + 1], side)) for side in (0, 1)}
            near = 1 if ends[0] in following and ends[1] not in following else 0
        elif points.find(("vertex", target)) == ends[0]:
            near = 1
        if ends[1 - near] == at or ends[0] == ends[1]:
            platform.refuse(f"the route from {shown(source)} to {shown(target)} uses link {shown(name)} where no cable can lie")
        points.join(at, (name, near))
        at = points.find((name, 1 - near))
    points.join(at, ("vertex", target))


def check_routes(platform, points, used):
    """Checks that each stated route is the only shortest one between its ends."""
    ways = {}
    for name in used:
        a, b = points.find((name, 0)), points.find((name, 1))
        if a == b:
            platform.refuse(f"link {shown(name)} has more than two ends by its routes: it is a bus whose capacity all share, or the "
                            "routes are not a tree; a cable has two ends")
        ways.setdefault(a, []).append((b, name))
        ways.setdefault(b, []).append((a, name))
    for source, target, links in platform.routes:
        start, goal = points.find(("vertex", source)), points.find(("vertex", target))
        found = shortest(ways, start, goal)
        if found != list(links):
            platform.refuse(f"the route from {shown(source)} to {shown(target)} is {name_list(links)}, and the shortest way over "
                            f"cables {name_list(found) if found else 'none or not the only one'}; such routes are no graph's")


def shortest(ways, start, goal):
    """Returns the links of the only way with the fewest cables; None if there are none or several."""
    count, before, level = {start: 1}, {}, [start]
    while level and goal not in count:
        found = {}
        for at in level:
            for neighbor, name in ways.get(at, []):
                if neighbor in count:
                    continue
                found[neighbor] = found.get(neighbor, 0) + count[at]
                before[neighbor] = (at, name)
        count.update(found)
        level = list(found)
    if count.get(goal) != 1:
        return None
    links = []
    while goal != start:
        goal, name = before[goal]
        links.append(name)
    return links[::-1]


def check_names(platform):
    for source, target, links in platform.routes:
        for name in (source, target):
            if name not in platform.hosts and name not in platform.routers:
                platform.refuse(f"a route leads to {shown(name)}, which is not a host or router here")
        for name in links:
            if name.endswith(("_UP", "_DOWN")) and name not in platform.links:
                name = name.rsplit("_", 1)[0]
            if name not in platform.links:
                platform.refuse(f"the route from {shown(source)} uses link {shown(name)}, which is not described")


def build(platform):
    """Adds what the routes show to the network."""
    network, points = platform.network, Points()
    platform.routes = [(a, b, [n.rsplit("_", 1)[0] if n not in platform.links and n.endswith(("_UP", "_DOWN")) else n
                               for n in links]) for a, b, links in platform.routes]
    check_names(platform)
    for route in platform.routes:
        lay(platform, points, *route)
    used = list(dict.fromkeys(name for *_, links in platform.routes for name in links))
    check_routes(platform, points, used)
    cables = [(points.find((name, 0)), points.find((name, 1)), *platform.links[name][:2]) for name in used]
    cables += [(points.find(("vertex", a)), points.find(("vertex", b)), bits, ps) for a, b, bits, ps in platform.ready]
    name_points(platform, points, cables)
    fat = [name for name in used if platform.links[name][2] == "FATPIPE"]
    if fat and not platform.shared_may_go:
        platform.refuse(f"links {name_list(fat)} are FATPIPE: messages do not share their rate, as they do on a cable. "
                        "--leave-out-shared takes them for cables")
    if fat:
        network.leave_out(f"FATPIPE of links {name_list(fat, 40)}: messages share the rate of a cable")
    platform.half_duplex += [name for name in used if platform.links[name][2] == "SHARED"]
    loose = [name for name in platform.links if name not in used]
    if loose:
        network.leave_out(f"links {name_list(loose, 40)}: on no route between two hosts")


def name_points(platform, points, cables):
    network = platform.network
    degree, at = {}, {}
    for one, other, *_ in cables:
        degree[one], degree[other] = degree.get(one, 0) + 1, degree.get(other, 0) + 1
    for host in platform.hosts:
        point = points.find(("vertex", host))
        if point in at:
            platform.refuse(f"hosts {shown(at[point])} and {shown(host)} would be one point: no link lies between them")
        at[point] = host
        network.node(host)
    for router in platform.routers:
        at.setdefault(points.find(("vertex", router)), router)
    names = {}
    for point in degree:
        name = at.get(point)
        if name in platform.hosts and degree[point] == 1:
            names[point] = name
            continue
        names[point] = f"switch at {name}" if name in platform.hosts else name or f"switch {len(network.switches)}"
        network.switch(names[point])
        if name in platform.hosts:  # a host passes messages on, a node does not
            network.cable(name, names[point], link(WIDE))
    for one, other, bits, ps in cables:
        network.cable(names[one], names[other], link(bits, ps))


def read(files, texts, options):
    file = files[0]
    if re.search(r"<!ENTITY", texts[0]):
        raise Fault(f"{file}: defines entities, which are not read")
    try:
        root = ElementTree.fromstring(texts[0].lstrip("\ufeff \t\r\n"))
    except (ElementTree.ParseError, ValueError) as error:
        raise Fault(f"{file}: is not XML: {error}") from None
    if root.tag != "platform":
        raise Fault(f"{file}: is <{shown(root.tag)}>, and no <platform> of SimGrid")
    if not re.fullmatch(r"4(\.\d+)?", root.get("version", "")):
        raise Fault(f"{file}: is of version {shown(root.get('version', 'none'))}; 4 is read. simgrid_update_xml converts older ones")
    network = Network(file, "SimGrid's platform")
    platform = Platform(network, options)
    for child in root:
        platform.visit(child)
    build(platform)
    if platform.half_duplex:
        network.leave_out(f"SHARED of {name_list(platform.half_duplex, 40)}: both directions share one rate, and a cable has it each "
                          "way")
    stated = {(source, target) for source, target, _ in platform.routes}
    alone = [f"{a} to {b}" for a, b in platform.one_way if (b, a) not in stated]
    if alone:
        network.leave_out(f"that {name_list(alone)} has no way back: cables lead both ways")
    if platform.unread:
        network.leave_out("elements " + ", ".join(f"{count} {tag}" for tag, count in platform.unread.items()))
    if platform.speeds:
        network.leave_out("speeds and cores of hosts")
    return network
