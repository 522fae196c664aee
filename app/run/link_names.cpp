#include "app/run/link_names.hpp"

#include <fmt/format.h>

namespace paceline {

std::string name_of_link(const LinkLabel& label, int nodes) {
    if (label.role != LinkRole::node || label.host < nodes) return label.name;
    std::string name = label.name;  // "node 64 up", which is a server's
    const std::string host = fmt::format("node {}", label.host);
    if (const auto at = name.find(host); at != std::string::npos)
        name.replace(at, host.size(), fmt::format("server {}", label.host - nodes));
    return name;
}

std::string kind_of_link(const LinkLabel& label, int nodes) {
    std::string kind = label.kind;
    if (label.role == LinkRole::node && label.host >= nodes)
        if (const auto at = kind.find("node"); at != std::string::npos)
            kind.replace(at, 4, "server");
    return kind;
}

}  // namespace paceline
