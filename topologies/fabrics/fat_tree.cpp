#include "topologies/fabrics/fat_tree.hpp"

#include "sim/engine/check.hpp"
#include "topologies/fabrics/cables.hpp"
#include "topologies/fabrics/equal_cost.hpp"
#include "topologies/fabrics/link_labels.hpp"

namespace paceline {

static_assert(FatTree{.hosts = 1 << 28, .k = most_fat_tree_ports}.places() == 1 << 28);
static_assert(FatTree{.hosts = 1 << 28, .k = most_fat_tree_ports}.cables() <= most_cables);

Fabric make_fat_tree(const FatTree& shape, std::uint64_t seed) {
    PACELINE_CHECK(shape.k >= 2 && shape.k <= most_fat_tree_ports && shape.k % 2 == 0,
                   "a fat tree has an even number of ports per switch");
    PACELINE_CHECK(shape.hosts >= 1 && shape.hosts <= shape.places(),
                   "a fat tree has a host or more, and a place for each");
    Fabric fabric;
    fabric.hosts = shape.hosts;
    add_cables(fabric, shape.hosts, shape.link);
    add_cables(fabric, 2 * shape.places(), shape.uplink);

    const std::int64_t to_aggregation = shape.hosts;  // number of the first such cable
    const std::int64_t to_core = to_aggregation + shape.places();
    fabric.find_route = [to_aggregation, to_core, half = shape.k / 2, seed](int from, int to,
                                                                            Route& route) {
        const std::int64_t edge = from / half;
        const std::int64_t other_edge = to / half;
        route.assign({forth(from)});
        if (edge != other_edge) {
            const int core = choose(equal_cost_hash(seed, from, to), half * half);
            const int a = core / half;
            const int c = core % half;
            const std::int64_t pod = edge / half;
            const std::int64_t other_pod = other_edge / half;
            route.push_back(forth(to_aggregation + edge * half + a));
            if (pod != other_pod) {
                route.push_back(forth(to_core + (pod * half + a) * half + c));
                route.push_back(back(to_core + (other_pod * half + a) * half + c));
            }
            route.push_back(back(to_aggregation + other_edge * half + a));
        }
        route.push_back(back(to));
    };
    fabric.label = [to_aggregation, to_core, half = std::int64_t{shape.k} / 2](LinkId link) {
        const bool is_back = link % 2 == 1;
        const std::int64_t cable = link / 2;
        if (cable < to_aggregation)
            return node_link(static_cast<int>(cable), is_back ? Way::down : Way::up);
        if (cable < to_core) {
            const std::int64_t place = cable - to_aggregation;
            const LinkEnd edge{"edge", place / half};
            const LinkEnd aggregation{"aggregation", place / half / half * half + place % half};
            return is_back ? core_link(aggregation, edge) : core_link(edge, aggregation);
        }
        const std::int64_t place = cable - to_core;
        const LinkEnd aggregation{"aggregation", place / half};
        const LinkEnd core{"core", place / half % half * half + place % half};
        return is_back ? core_link(core, aggregation) : core_link(aggregation, core);
    };
    return fabric;
}

int fat_tree_ports_for(int hosts) {
    PACELINE_CHECK(hosts >= 1, "a fat tree has a host or more");
    int k = 2;
    while (FatTree{.k = k}.places() < hosts) k += 2;
    PACELINE_CHECK(k <= most_fat_tree_ports, "a fat tree has a place for each host");
    return k;
}

}  // namespace paceline
