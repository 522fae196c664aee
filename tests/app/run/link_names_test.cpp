#include "app/run/link_names.hpp"

#include <doctest/doctest.h>

namespace paceline::link_names_test {
namespace {

TEST_CASE("link names: hosts behind the nodes are servers, counted from 0") {
    const LinkLabel of_node{LinkRole::node, "node up", "node 3 up", 3};
    const LinkLabel of_server{LinkRole::node, "node up", "node 65 up", 65};
    const LinkLabel of_core{LinkRole::core, "leaf -> spine", "leaf 2 -> spine 0", -1};
    CHECK(name_of_link(of_node, 64) == "node 3 up");
    CHECK(kind_of_link(of_node, 64) == "node up");
    CHECK(name_of_link(of_server, 64) == "server 1 up");
    CHECK(kind_of_link(of_server, 64) == "server up");
    CHECK(name_of_link(of_core, 64) == "leaf 2 -> spine 0");
    CHECK(kind_of_link(of_core, 64) == "leaf -> spine");
}

}  // namespace
}  // namespace paceline::link_names_test
