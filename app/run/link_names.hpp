// The names of links in everything that shows them to a user: explain, traces, links.csv.
//
// A fabric names its links by its hosts ("node 3 up", "leaf 2 -> spine 0"). The hosts behind its
// nodes are servers, which only the scenario knows.
#pragma once

#include <string>

#include "sim/network/fabric.hpp"

namespace paceline {

/// Returns "node 3 up", "leaf 2 -> spine 0"; "server 0 up" for the first host behind the fabric's
/// `nodes` nodes.
std::string name_of_link(const LinkLabel& label, int nodes);

/// Returns "node up", "leaf -> spine"; "server up" for a host behind the nodes.
std::string kind_of_link(const LinkLabel& label, int nodes);

}  // namespace paceline
