// "other_links" of a fabric: nodes whose cable differs from the usual one.
//
//   "other_links": [{"nodes": [5, 6], "link": {"preset": "3g"}}, {"share": 0.1, "link": ...}]
#pragma once

#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/nodes/node_list.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

struct OtherLinks {
    std::vector<int> nodes;
    Cable cable;
};

/// Returns the known keys of an element. A test checks scenario.schema.json against them.
Keys other_links_keys();

using ReadCable = Cable (*)(const Place&);

/// Reads the list, if there is one. Nodes that are drawn by share are noted in `drawn`. Throws
/// ConfigError.
std::vector<OtherLinks> read_other_links(const ObjectReader& read, NodeDraw draw, ReadCable cable,
                                         std::vector<DrawnNodes>& drawn);

/// Replaces links; later entries override earlier ones. Links are numbered as on a star.
void replace_links(Fabric& fabric, const std::vector<OtherLinks>& others);

}  // namespace paceline
