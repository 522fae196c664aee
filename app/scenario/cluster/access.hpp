// The "access" of a cluster: how the links between nodes and network change over time.
//
//   {"kind": "trace", "file": "lte.csv", "period": "60s", "phase": "random"}
//   {"kind": "trace", "format": "mahimahi", "file": "lte.down", "file_up": "lte.up"}
//   {"kind": "on-off", "on": "30s", "off": "5s", "law": "exponential", "bandwidth_off": "0bps",
//    "phase": "random"}
//   {"kind": "outages", "schedule": [{"at": "10s", "for": "5s"}], "transfers": "restart"}
//   {"kind": "outages", "mean_between": "10min", "mean_length": "20s"}
//
// Each kind takes an optional "nodes" and applies to all nodes without it. Links of servers do not
// change. sim/network/link_processes.hpp defines the processes. A node's own links are the first
// link on its way into the network and the last link on the way back to it. Nodes must therefore
// have one cable and one device each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/nodes/node_list.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/link_processes.hpp"

namespace paceline {

using AccessKind =
    std::variant<std::shared_ptr<const LinkTrace>, OnOff, std::shared_ptr<const Outages>>;

struct AccessChoice {
    std::optional<std::vector<int>> nodes{};  // empty: all
    AccessKind kind;
};

struct AccessEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    AccessKind (*read)(const ObjectReader& read);
};

std::span<const AccessEntry> access_table();

// The table of known keys of a scheduled outage. A test checks scenario.schema.json against it.
Keys outage_keys();

/// Reads the "access" of a cluster and draws shares of its nodes, which are noted in `drawn`. Nodes
/// with outages are drawn separately from those with a trace or an on/off process. Throws
/// ConfigError.
std::vector<AccessChoice> read_access(const Place& place, NodeDraw draw,
                                      std::vector<DrawnNodes>& drawn);

/// Returns the links of the first `nodes` hosts, each of which has one cable. Host i stands at
/// places[i], or at a place of its own if there are none. Returns no links if all hosts stand at
/// one place.
std::vector<Access> accesses_of(const Fabric& fabric, int nodes, std::span<const int> places = {});

/// Starts the processes that change these links.
void begin_access(LinkProcesses& processes, std::span<const AccessChoice> choices,
                  std::span<const Access> accesses);

}  // namespace paceline
