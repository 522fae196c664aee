// Every algorithm against the reference that is written from its paper, and the table of papers.
#include "tests/papers/papers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "app/scenario/algorithms/algorithms.hpp"

namespace paceline::papers_test {
namespace {

using namespace papers;

// Runs all cases of a family's papers.
void check(std::string_view family) {
    const std::vector<Paper> those = papers_of(family);
    CHECK(!those.empty());
    for (const Paper& paper : those)
        for (const Case& run : paper.cases()) {
            CAPTURE(paper.algorithm);
            CAPTURE(run.name);
            CHECK(run.setting.steps >= 40);
            CHECK(run.setting.nodes >= 4);
            CHECK(difference(run) <= 1e-9);
        }
}

TEST_CASE("papers: dense methods agree with their references") {
    check("dense");
}

TEST_CASE("papers: sparse methods agree with their references") {
    check("sparse");
}

TEST_CASE("papers: compressed methods agree with their references") {
    check("compressed");
}

TEST_CASE("papers: adaptive methods agree with their references") {
    check("adaptive");
}

TEST_CASE("papers: local methods agree with their references") {
    check("local");
}

TEST_CASE("papers: decentralized methods agree with their references") {
    check("decentralized");
}

TEST_CASE("papers: gossip methods agree with their references") {
    check("gossip");
}

TEST_CASE("papers: methods with a server agree with their references") {
    check("servers");
}

TEST_CASE("papers: every algorithm that trains has one row, without an empty cell") {
    std::map<std::string_view, int> rows;
    for (const Paper& paper : all_papers()) {
        CAPTURE(paper.algorithm);
        ++rows[paper.algorithm];
        CHECK(!paper.variant.empty());
        CHECK(!paper.deviations.empty());
        CHECK(!paper.cases().empty());
    }
    for (const AlgorithmEntry& entry : algorithm_table()) {
        CAPTURE(entry.name);
        CHECK(rows[entry.name] == (entry.traits.trains ? 1 : 0));
        CHECK(entry.paper.empty() == !entry.traits.trains);
        rows.erase(entry.name);
    }
    CHECK(rows.empty());
}

// The first run of an algorithm's paper.
Case first_case(std::string_view algorithm) {
    const std::vector<Paper> all = all_papers();
    const auto found = std::ranges::find(all, algorithm, &Paper::algorithm);
    REQUIRE(found != all.end());
    return found->cases().front();
}

// A comparison that could not fail would prove nothing: the references of neighbors in the table
// are told apart.
TEST_CASE("papers: the comparison tells a method from its neighbors") {
    const Case dsgd = first_case("dsgd");
    const Case awc = first_case("dsgd-awc");
    Case later = dsgd;
    later.setting.beta = 0.81;
    CHECK(largest_difference(run_product(*dsgd.algorithm, dsgd.setting), awc.reference(awc)) >
          1e-4);
    const Case dmsgd = first_case("dmsgd");
    later.algorithm = dmsgd.algorithm;
    CHECK(largest_difference(run_product(*later.algorithm, later.setting), dmsgd.reference(dmsgd)) >
          1e-4);
    History short_one = dsgd.reference(dsgd);
    short_one.pop_back();
    CHECK(largest_difference(run_product(*dsgd.algorithm, dsgd.setting), short_one) > 1);
}

}  // namespace
}  // namespace paceline::papers_test
