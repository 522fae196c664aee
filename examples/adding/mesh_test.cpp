#include "examples/adding/mesh.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace paceline::mesh_test {
namespace {

using namespace literals;

Route route(const Fabric& fabric, int from, int to) {
    Route found{77};  // which the fabric must replace
    fabric.find_route(from, to, found);
    return found;
}

TEST_CASE("mesh: the route of a pair is its cable, one way or the other") {
    const Fabric mesh = make_mesh(4, {1_Gbps});  // cables 01 02 03 12 13 23

    CHECK(mesh.links.size() == 12);
    CHECK(route(mesh, 0, 1) == Route{0});
    CHECK(route(mesh, 1, 0) == Route{1});
    CHECK(route(mesh, 0, 3) == Route{4});
    CHECK(route(mesh, 3, 1) == Route{9});
    CHECK(route(mesh, 2, 3) == Route{10});
}

TEST_CASE("mesh: a link is named by its ends") {
    const Fabric mesh = make_mesh(5, {1_Gbps});
    for (int from = 0; from < 5; ++from)
        for (int to = 0; to < 5; ++to) {
            if (from == to) continue;
            CHECK(mesh.label(route(mesh, from, to)[0]).name ==
                  fmt::format("node {} -> node {}", from, to));
        }
}

TEST_CASE("mesh: a lone host has no link") {
    CHECK(make_mesh(1, {1_Gbps}).links.empty());
}

}  // namespace
}  // namespace paceline::mesh_test
