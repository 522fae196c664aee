#include "topologies/fabrics/star.hpp"

#include "sim/engine/check.hpp"
#include "topologies/fabrics/link_labels.hpp"

namespace paceline {

Fabric make_star(int hosts, const Link& up, const Link& down) {
    PACELINE_CHECK(hosts >= 1, "a star has a host or more");
    Fabric star;
    star.hosts = hosts;
    star.links.assign(static_cast<std::size_t>(hosts), up);
    star.links.insert(star.links.end(), static_cast<std::size_t>(hosts), down);
    for (int host = 0; host < hosts; ++host) star.back.push_back(star_down(host, hosts));
    for (int host = 0; host < hosts; ++host) star.back.push_back(star_up(host));
    star.find_route = [hosts](int from, int to, Route& route) {
        route.assign({star_up(from), star_down(to, hosts)});
    };
    star.label = [hosts](LinkId link) {
        const auto number = static_cast<int>(link);
        return number < hosts ? node_link(number, Way::up) : node_link(number - hosts, Way::down);
    };
    return star;
}

}  // namespace paceline
