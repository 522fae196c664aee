// What links of the fabrics are called, so that all of them speak alike.
#pragma once

#include <string_view>

#include "sim/network/fabric.hpp"

namespace paceline {

enum class Way : std::uint8_t { up, down };  // from a host, and to it

/// "node 3 up", of the kind "node up".
LinkLabel node_link(int host, Way way);

/// One end of a link: "leaf" 2.
struct LinkEnd {
    std::string_view kind;
    std::int64_t number = 0;
};

/// "leaf 2 -> spine 0", of the kind "leaf -> spine".
LinkLabel core_link(LinkEnd from, LinkEnd to);

}  // namespace paceline
