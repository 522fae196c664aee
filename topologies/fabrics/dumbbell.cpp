#include "topologies/fabrics/dumbbell.hpp"

#include "sim/engine/check.hpp"
#include "topologies/fabrics/cables.hpp"
#include "topologies/fabrics/link_labels.hpp"

namespace paceline {

Fabric make_dumbbell(int hosts, const Link& link, const Link& bottleneck) {
    PACELINE_CHECK(hosts >= 1 && hosts < most_cables, "a dumbbell has a host or more");
    Fabric fabric;
    fabric.hosts = hosts;
    add_cables(fabric, hosts, link);
    add_cables(fabric, 1, bottleneck);
    fabric.find_route = [hosts](int from, int to, Route& route) {
        const int left = hosts / 2;
        route.assign({forth(from)});
        if (from < left && to >= left) route.push_back(forth(hosts));
        if (from >= left && to < left) route.push_back(back(hosts));
        route.push_back(back(to));
    };
    fabric.label = [hosts](LinkId link) -> LinkLabel {
        const bool is_back = link % 2 == 1;
        const auto cable = static_cast<int>(link / 2);
        if (cable < hosts) return node_link(cable, is_back ? Way::down : Way::up);
        const char* const name = is_back ? "right -> left" : "left -> right";
        return {LinkRole::core, "bottleneck", name};
    };
    return fabric;
}

}  // namespace paceline
