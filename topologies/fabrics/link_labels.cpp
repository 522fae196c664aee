#include "topologies/fabrics/link_labels.hpp"

#include <fmt/format.h>

namespace paceline {

LinkLabel node_link(int host, Way way) {
    const std::string_view name = way == Way::up ? "up" : "down";
    return {LinkRole::node, fmt::format("node {}", name), fmt::format("node {} {}", host, name),
            host};
}

LinkLabel core_link(LinkEnd from, LinkEnd to) {
    return {LinkRole::core, fmt::format("{} -> {}", from.kind, to.kind),
            fmt::format("{} {} -> {} {}", from.kind, from.number, to.kind, to.number)};
}

}  // namespace paceline
