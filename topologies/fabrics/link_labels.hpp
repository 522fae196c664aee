// Names of links in reports, uniform across all fabrics.
#pragma once

#include <string_view>

#include "sim/network/fabric.hpp"

namespace paceline {

enum class Way : std::uint8_t { up, down };  // from a host, and to it

/// Returns the label "node 3 up", of kind "node up".
LinkLabel node_link(int host, Way way);

/// One end of a link: "leaf" 2.
struct LinkEnd {
    std::string_view kind;
    std::int64_t number = 0;
};

/// Returns the label "leaf 2 -> spine 0", of kind "leaf -> spine".
LinkLabel core_link(LinkEnd from, LinkEnd to);

}  // namespace paceline
