#include "algorithms/local/sparta.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/local/local_adam.hpp"
#include "tests/algorithms/local/local_run.hpp"

namespace paceline::sparta_test {
namespace {

LocalAlgorithm of_sparta(double share) {
    SpartaOptions options;
    options.share = share;
    return [=](Worker& w) { return sparta(w, options); };
}

TEST_CASE(
    "sparta: with all parameters it is local Adam with averages in every step, in every bit") {
    for (const int n : {1, 2, 5}) {
        CAPTURE(n);
        const LocalAdamOptions every_step;

        CHECK(models_after(n, local_job(20, falling_rate), of_sparta(1)) ==
              models_after(n, local_job(20, falling_rate),
                           [=](Worker& w) { return local_adam(w, every_step); }));
    }
}

// The gradient is 0 at first and then pulls each worker its own way in step 0 alone; Adam's later steps are 0 with beta1 = 0.
TEST_CASE("sparta: steps that agree leave a spread that falls by 1 - p a step") {
    const std::int64_t steps = 40;
    const double share = 4.0 / 26;  // of the 26 entries of the small net
    double spread = 0;
    double expected = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) {
        Job job = local_job(steps, constant_rate);
        job.seed = seed;
        job.objective = [](const Vector& x, int rank, std::int64_t k) {
            const double pull = k == 0 && rank == 0 ? 1 : 0;
            return Eigen::VectorXd(Eigen::VectorXd::Constant(x.entries(), pull));
        };
        SpartaOptions options;
        options.share = share;
        options.rule.beta1 = 0;
        const Eigen::MatrixXd models =
            models_after(2, job, [=](Worker& w) { return sparta(w, options); });
        spread += (models.col(0) - models.col(1)).squaredNorm();
        expected += 26 * 0.01 * std::pow(1 - share, static_cast<double>(steps));
    }
    // 60 x 26 entries, of each of which 1 in 796 is left: 1.25 expected of size 0.01.
    CHECK(spread < 8 * expected);
    CHECK(expected == doctest::Approx(60 * 26 * 0.01 * std::pow(22.0 / 26, 40)));
}

TEST_CASE(
    "sparta, property: averages keep the mean of the models, and change the drawn entries alone") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        RandomStream random = RandomStreams(seed).stream("positions");
        const auto n = static_cast<std::int64_t>(1 + seed % 50);
        const std::int64_t k = 1 + static_cast<std::int64_t>(seed) % n;

        const std::vector<std::int64_t> positions = draw_positions(n, k, random);

        REQUIRE(static_cast<std::int64_t>(positions.size()) == k);
        const std::set<std::int64_t> all(positions.begin(), positions.end());
        REQUIRE(static_cast<std::int64_t>(all.size()) == k);
        REQUIRE(std::ranges::is_sorted(positions));
        REQUIRE(positions.front() >= 0);
        REQUIRE(positions.back() < n);
    }
}

TEST_CASE("sparta: every set of positions is drawn about equally often") {
    RandomStream random = RandomStreams(7).stream("positions");
    std::map<std::vector<std::int64_t>, int> counts;
    const int draws = 20'000;
    for (int i = 0; i < draws; ++i) ++counts[draw_positions(5, 2, random)];

    REQUIRE(counts.size() == 10);
    for (const auto& [positions, count] : counts)
        CHECK(std::abs(count - draws / 10) < 5 * std::sqrt(draws / 10.0));
}

}  // namespace
}  // namespace paceline::sparta_test
