#include "algorithms/gossip/ad_psgd.hpp"

#include <set>

#include <doctest/doctest.h>

#include "algorithms/decentralized/dsgd_awc.hpp"
#include "tests/algorithms/gossip/gossip_run.hpp"

namespace paceline::ad_psgd_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};
const Link slow_link{1_Mbps, 100us};

TEST_CASE("ad-psgd: partners are those of the bipartite exponential graph, in turn") {
    CHECK(ad_psgd_partners(1, 2) == std::vector<int>{0});
    CHECK(ad_psgd_partners(1, 8) == std::vector<int>{2, 0, 4, 6});
    CHECK(ad_psgd_partners(5, 32) == std::vector<int>{6, 4, 8, 2, 10, 0, 14, 28, 22, 20});
    CHECK(ad_psgd_partners(2, 8).empty());
    CHECK(ad_psgd_partners(0, 1).empty());
}

TEST_CASE(
    "ad-psgd, property: active nodes have passive partners, and every passive node is one's") {
    for (int n = 2; n <= 33; ++n) {
        CAPTURE(n);
        std::set<int> met;
        for (int rank = 1; rank < n; rank += 2) {
            CHECK(!ad_psgd_partners(rank, n).empty());
            for (const int partner : ad_psgd_partners(rank, n)) {
                CHECK(partner % 2 == 0);
                met.insert(partner);
            }
        }
        CHECK(static_cast<int>(met.size()) == (n + 1) / 2);
    }
}

TEST_CASE(
    "ad-psgd, property: exchanges conserve the sum, whatever their order, and bring models "
    "together") {
    for (unsigned seed = 0; seed < 30; ++seed) {
        CAPTURE(seed);
        const int n = 2 + static_cast<int>(seed % 8);
        const LayoutPtr layout = small_layout();

        GossipRun run(n, seed % 2 == 0 ? link : slow_link,
                      idle_job(layout, 300, make_complete_mixing(n), seed), seed,
                      [](Worker& w) { return ad_psgd(w, {{0.9}}); });

        CHECK(run.processes.finished());
        CHECK((run.first.rowwise().sum() - run.last().rowwise().sum()).norm() < 1e-10);
        CHECK(spread(run.last()) < 1e-2 * spread(run.first));
    }
}

TEST_CASE("ad-psgd, property: gradients that come during exchanges are kept, each of them once") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const int n = 2 + static_cast<int>(seed % 8);
        GossipRun run(n, slow_link, sloping_job(small_layout(), 50, make_complete_mixing(n), seed),
                      seed, [](Worker& w) { return ad_psgd(w, {}); });

        CHECK((run.last().rowwise().sum() - sum_down_the_slope(run.first, 50)).norm() < 1e-9);
    }
}

TEST_CASE("ad-psgd: a pair on a fast network is D-PSGD, gradients beside the average") {
    const auto job = [] {
        Job j = training_job(small_layout(), 40);
        j.mixing = std::make_shared<const Mixing>(make_ring_mixing(2));
        return j;
    };
    TrainingRun pair(2, link, job());
    pair.spawn_all([](Worker& w) { return ad_psgd(w, {}); });
    pair.simulation.run();
    TrainingRun mixed(2, link, job());
    mixed.spawn_all([](Worker& w) { return dsgd_awc(w); });
    mixed.simulation.run();

    for (int rank = 0; rank < 2; ++rank)
        CHECK((pair.model_of(rank) - mixed.model_of(rank)).norm() < 1e-10);
}

TEST_CASE("ad-psgd: no step waits, and an exchange per step sends a model each way") {
    for (const int n : {1, 2, 8, 9}) {
        CAPTURE(n);
        Job job = timing_job(small_layout(), 20);
        job.update = 3us;
        TrainingRun run(n, link, std::move(job));
        run.spawn_all([](Worker& w) { return ad_psgd(w, {}); });
        run.simulation.run();

        CHECK(run.elapsed() == 20 * (1ms + 3us));
        CHECK(run.sent_by_all() == 20 * (2 * (n / 2) * 104_B));
    }
}

TEST_CASE("ad-psgd: an exchange that outlasts steps delays the next exchange, and no step") {
    Job job = timing_job(small_layout(), 20);
    TrainingRun run(2, slow_link, std::move(job));  // 832 us and 200 us each way: 2064 us
    run.spawn_all([](Worker& w) { return ad_psgd(w, {}); });
    run.simulation.run(Time{20ms});

    CHECK(run.processes.finished());
    run.simulation.run();
    // Exchanges run one at a time: ten begin during the steps, and the last step's own follows.
    CHECK(run.network.traffic(1).sent == 11 * 104_B);
    CHECK(run.elapsed() == 11 * 2064us);
}

}  // namespace
}  // namespace paceline::ad_psgd_test
