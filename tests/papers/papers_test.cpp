// Every algorithm against the reference that is written from its paper, and the table of papers.
#include "tests/papers/papers.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "app/scenario/algorithms/algorithms.hpp"

namespace paceline::papers_test {
namespace {

using namespace papers;

// Runs all cases of a family's papers.
void check(std::string_view family) {
    for (const Paper& paper : papers_of(family))
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

// A comparison that could not fail would prove nothing: the references of neighbors in the table
// are told apart.
TEST_CASE("papers: the comparison tells a method from its neighbors") {
    const Case dsgd = dsgd_papers()[0].cases().front();
    const Case awc = dsgd_papers()[1].cases().front();
    Case later = dsgd;
    later.setting.beta = 0.81;
    CHECK(largest_difference(run_product(*dsgd.algorithm, dsgd.setting), awc.reference(awc)) >
          1e-4);
    const Case dmsgd = dmsgd_papers()[0].cases().front();
    later.algorithm = dmsgd.algorithm;
    CHECK(largest_difference(run_product(*later.algorithm, later.setting), dmsgd.reference(dmsgd)) >
          1e-4);
    History short_one = dsgd.reference(dsgd);
    short_one.pop_back();
    CHECK(largest_difference(run_product(*dsgd.algorithm, dsgd.setting), short_one) > 1);
}

}  // namespace
}  // namespace paceline::papers_test
