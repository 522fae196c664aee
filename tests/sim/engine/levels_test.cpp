#include "sim/engine/levels.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "sim/engine/random.hpp"

namespace paceline::levels_test {
namespace {

using Groups = std::vector<std::vector<int>>;

TEST_CASE("levels: groups keep their numbers, and machines in a group are in order") {
    const Level level("site", Groups{{4, 1}, {0, 3, 2}});

    CHECK(level.groups() == Groups{{1, 4}, {0, 2, 3}});
    CHECK(level.machines() == 5);
    CHECK(level.group_of(4) == 0);
    CHECK(level.group_of(3) == 1);
}

TEST_CASE("levels: machines of one number are a group, and numbers without machines are none") {
    const Level level("leaf", 3, [](int machine) { return machine == 1 ? 7 : 9; });

    CHECK(level.groups() == Groups{{1}, {0, 2}});
}

TEST_CASE("levels: a job without levels has machines alone") {
    const Levels levels(3, {});

    CHECK(levels.names() == std::vector<std::string_view>{"machine"});
    CHECK(levels.find("machine")->groups() == Groups{{0}, {1}, {2}});
    CHECK_FALSE(levels.find("leaf"));
}

TEST_CASE("levels: the devices of a group are those of its machines, whatever each holds") {
    const Level level("site", Groups{{0, 2}, {1}});

    CHECK(groups_of_devices(level, MachineSizes(2), 6) == Groups{{0, 1, 4, 5}, {2, 3}});
    CHECK(groups_of_devices(level, MachineSizes(2), 5) == Groups{{0, 1, 4}, {2, 3}});
    CHECK(groups_of_devices(level, MachineSizes(std::vector<int>{1, 3, 2}), 6) ==
          Groups{{0, 4, 5}, {1, 2, 3}});
}

TEST_CASE("levels, property: one lies within another unless two of a group are apart there") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        RandomStream random = RandomStreams(seed).stream("levels");
        const auto draw = [&](int most) {
            return boost::random::uniform_int_distribution<int>(0, most)(random);
        };
        const int machines = 1 + draw(8);
        std::vector<int> fine(static_cast<std::size_t>(machines));
        std::vector<int> coarse(static_cast<std::size_t>(machines));
        for (int& group : fine) group = draw(3);
        for (int& group : coarse) group = draw(1);
        const auto level_of = [&](const std::vector<int>& of) {
            return Level("any", machines,
                         [&](int machine) { return of[static_cast<std::size_t>(machine)]; });
        };
        const Level inner = level_of(fine);

        bool is_cut = false;
        for (std::size_t a = 0; a < fine.size(); ++a)
            for (std::size_t b = 0; b < fine.size(); ++b)
                is_cut = is_cut || (fine[a] == fine[b] && coarse[a] != coarse[b]);
        CHECK(inner.cut_by(level_of(coarse)).has_value() == is_cut);
        std::multiset<int> all;
        for (const std::vector<int>& group : inner.groups()) {
            CHECK(std::ranges::is_sorted(group));
            all.insert(group.begin(), group.end());
        }
        CHECK(std::ssize(all) == machines);
        CHECK(std::ssize(std::set<int>(all.begin(), all.end())) == machines);
    }
}

}  // namespace
}  // namespace paceline::levels_test
