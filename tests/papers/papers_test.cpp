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

// Runs all cases of a file's papers.
void check(std::span<const Paper> papers) {
    for (const Paper& paper : papers)
        for (const Case& run : paper.cases()) {
            CAPTURE(paper.algorithm);
            CAPTURE(run.name);
            CHECK(run.setting.steps >= 40);
            CHECK(run.setting.nodes >= 4);
            CHECK(difference(run) <= 1e-9);
        }
}

TEST_CASE("papers: dense methods agree with their references") {
    check(dense_papers());
    check(lars_papers());
}

TEST_CASE("papers: sparse methods agree with their references") {
    check(dgc_papers());
    check(gradient_dropping_papers());
    check(gtop_k_papers());
}

TEST_CASE("papers: compressed methods agree with their references") {
    check(exchange_papers());
    check(compressed_sgd_papers());
    check(sign_papers());
    check(power_sgd_papers());
    check(demo_papers());
    check(choco_papers());
}

TEST_CASE("papers: adaptive methods agree with their references") {
    check(adam_papers());
    check(one_bit_adam_papers());
    check(one_bit_lamb_papers());
    check(zero_one_adam_papers());
    check(one_bit_sgd_papers());
}

TEST_CASE("papers: local methods agree with their references") {
    check(local_sgd_papers());
    check(slowmo_papers());
    check(bmuf_papers());
    check(diloco_papers());
    check(streaming_diloco_papers());
    check(local_adam_papers());
    check(sparta_papers());
    check(overlapped_average_papers());
    check(easgd_papers());
}

TEST_CASE("papers: decentralized methods agree with their references") {
    check(dsgd_papers());
    check(dmsgd_papers());
    check(bias_corrected_papers());
    check(momentum_tracking_papers());
}

TEST_CASE("papers: gossip methods agree with their references") {
    check(momentum_consensus_papers());
    check(push_sum_papers());
    check(ad_psgd_papers());
    check(swarm_papers());
}

TEST_CASE("papers: methods with a server agree with their references") {
    check(server_papers());
    check(fedavg_papers());
    check(fedopt_papers());
    check(scaffold_papers());
}

TEST_CASE("papers: every algorithm that trains has one row, without an empty cell") {
    std::map<std::string_view, int> rows;
    for (const Paper& paper : all_papers()) {
        CAPTURE(paper.algorithm);
        ++rows[paper.algorithm];
        CHECK(!paper.source.empty());
        CHECK(!paper.variant.empty());
        CHECK(!paper.deviations.empty());
        CHECK(!paper.cases().empty());
    }
    for (const AlgorithmEntry& entry : algorithm_table()) {
        CAPTURE(entry.name);
        CHECK(rows[entry.name] == (entry.traits.trains ? 1 : 0));
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
