#include "topologies/fabrics/leaf_spine.hpp"

#include <algorithm>
#include <cmath>

#include "sim/engine/check.hpp"
#include "topologies/fabrics/cables.hpp"
#include "topologies/fabrics/equal_cost.hpp"
#include "topologies/fabrics/link_labels.hpp"

namespace paceline {

Fabric make_leaf_spine(const LeafSpine& shape, std::uint64_t seed) {
    PACELINE_CHECK(shape.hosts >= 1, "leaf and spine have a host or more");
    PACELINE_CHECK(shape.hosts_per_leaf >= 1, "a leaf has a host or more");
    PACELINE_CHECK(shape.spines >= 1, "leaf and spine have a spine or more");
    PACELINE_CHECK(shape.cables() <= most_cables, "links have 32-bit numbers");
    Fabric fabric;
    fabric.hosts = shape.hosts;
    add_cables(fabric, shape.hosts, shape.link);
    add_cables(fabric, shape.cables() - shape.hosts, shape.uplink);
    fabric.find_route = [hosts = std::int64_t{shape.hosts}, per_leaf = shape.hosts_per_leaf,
                         spines = shape.spines, seed](int from, int to, Route& route) {
        const std::int64_t leaf = from / per_leaf;
        const std::int64_t other = to / per_leaf;
        route.assign({forth(from)});
        if (leaf != other) {
            const int spine = choose(equal_cost_hash(seed, from, to), spines);
            route.push_back(forth(hosts + leaf * spines + spine));
            route.push_back(back(hosts + other * spines + spine));
        }
        route.push_back(back(to));
    };
    fabric.label = [hosts = std::int64_t{shape.hosts}, spines = shape.spines](LinkId link) {
        const bool is_back = link % 2 == 1;
        const std::int64_t cable = link / 2;
        if (cable < hosts) return node_link(static_cast<int>(cable), is_back ? Way::down : Way::up);
        const LinkEnd leaf{"leaf", (cable - hosts) / spines};
        const LinkEnd spine{"spine", (cable - hosts) % spines};
        return is_back ? core_link(spine, leaf) : core_link(leaf, spine);
    };
    return fabric;
}

Link oversubscribed_uplink(const Link& link, int hosts_per_leaf, int spines, double ratio) {
    PACELINE_CHECK(ratio > 0, "an oversubscription is above 0");
    constexpr double most = 0x1p62;
    const double exact =
        static_cast<double>(link.bandwidth.bits_per_second) * hosts_per_leaf / (spines * ratio);
    Link uplink = link;
    uplink.bandwidth = {static_cast<std::int64_t>(std::min(most, std::round(exact)))};
    return uplink;
}

}  // namespace paceline
