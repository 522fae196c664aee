// Compares scenarios/mobile.json with the closed forms of docs/mobile.md, over a few rounds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/studies/run_points.hpp"

namespace paceline::mobile_figures_test {
namespace {

using doctest::Approx;

const std::string scenario = std::string(PACELINE_SOURCE_DIR) + "/scenarios/mobile.json";

constexpr int phones = 100;
constexpr int kept = 10;
constexpr int asked = 13;
constexpr int local_steps = 20;
constexpr double model = 4 * 1'727'962;  // bytes
constexpr double uncompressed = 4 * 8106;

const std::string fedavg = "FedAvg";
const std::string qsgd = "FedAvg, QSGD 8 bits";
const std::string top_k = "FedAvg, top 1 %";
const std::string dgc = "DGC 0.1 %";
const std::string local_sgd = "Local SGD, tau 20";
const std::string dense = "all-reduce SGD, ring";

// The study with an unreachable target, read once.
const Study& study() {
    static const Study read =
        read_study(scenario, {"cluster.failures.mean_between=2h", "measure.target_accuracy=1",
                              "stop.target_accuracy=1"});
    return read;
}

Scenario scenario_of(const std::string& label) {
    for (const Point& point : study().points)
        if (point.scenario.algorithm.label == label) return point.scenario;
    FAIL("the study has this algorithm");
    return {};
}

const Layout& layout() {
    static const LayoutPtr of_all = study().points[0].scenario.workload.layout;
    return *of_all;
}

Metrics run(const std::string& label, StopConditions stop, Duration mean_between) {
    Scenario changed = scenario_of(label);
    changed.stop = stop;
    changed.cluster.failures->mean_between = mean_between;
    return run_point(changed, nullptr);
}

StopConditions after(std::int64_t steps) {
    StopConditions stop;
    stop.iterations = steps;
    return stop;
}
StopConditions at(Duration time) {
    StopConditions stop;
    stop.time = time;
    return stop;
}

constexpr Duration two_hours = std::chrono::hours(2);

// Nobody leaves during these few rounds.
Metrics run_of_all_present(const std::string& label, int steps) {
    Metrics m = run(label, after(steps), std::chrono::hours(2400));
    REQUIRE(m.outcome == "finished");
    REQUIRE(m.deaths.value() == 0);
    return m;
}

double sent(const Metrics& m) {
    return m.total_sent_gb.value() * 1e9;
}
double received(const Metrics& m) {
    return m.total_received_gb.value() * 1e9;
}

bool is_3g(int phone) {
    return phone % 2 == 1;
}

// Seconds that a phone takes to compute a gradient.
double gradient_s(int phone) {
    static const ComputeTime time = scenario_of(fedavg).cluster.compute_time(1);
    return to_seconds(time(phone, 0, Time{}, std::chrono::seconds(2)));
}

// Seconds from the server's send to the arrival of the reply, with rates in bit/s.
double round_s(int phone, double lte_down, double lte_up, double up_bytes) {
    const double down = is_3g(phone) ? 1.6e6 : lte_down;
    const double up = is_3g(phone) ? 768e3 : lte_up;
    return 8 * model / down + 8 * up_bytes / up + (is_3g(phone) ? 0.3 : 0.07) +
           local_steps * gradient_s(phone);
}

TEST_CASE("mobile, figures: a hundred phones with the model of ResNet-110") {
    REQUIRE(study().points.size() == 6);
    CHECK(4.0 * static_cast<double>(layout().entries()) == model);
    CHECK(scenario_of(dgc).cluster.fabric_nodes == phones);
}

TEST_CASE(
    "mobile, figures: FedAvg sends a model down to all it asks, and one up from ten of them") {
    struct Upload {
        std::string label;
        double bytes;
    };
    constexpr int rounds = 3;
    for (const Upload& up :
         {Upload{fedavg, model},
          Upload{qsgd, static_cast<double>(message_bytes(make_qsgd({127, 512}), layout()).count)},
          Upload{top_k, static_cast<double>(message_bytes(make_top_k(0.01), layout()).count)}}) {
        CAPTURE(up.label);
        const Metrics m = run_of_all_present(up.label, rounds * local_steps);

        CHECK(m.participation.value() == Approx(0.1).epsilon(1e-12));
        CHECK(received(m) == Approx(rounds * asked * model).epsilon(1e-9));
        // Some of the late phones have started to send.
        const double uploads = sent(m) / up.bytes;
        CHECK(uploads == Approx(std::round(uploads)).epsilon(1e-9));
        CHECK(std::round(uploads) >= rounds * kept);
        CHECK(std::round(uploads) <= rounds * asked);
    }
}

TEST_CASE("mobile, figures: QSGD's messages have eight bits an entry, and a norm for 512") {
    const auto bytes = static_cast<double>(message_bytes(make_qsgd({127, 512}), layout()).count);

    CHECK(bytes >= model / 4 * (1 + 4.0 / 512));
    CHECK(bytes < model / 4 * (1 + 4.0 / 512) * 1.005);  // a bucket never spans two tensors
}

TEST_CASE("mobile, figures: a round of FedAvg lies between the tenth of all phones and the last") {
    std::vector<double> best;
    std::vector<double> worst;  // the worst case: all phones asked are LTE phones of one cell
    for (int i = 0; i < phones; ++i) {
        best.push_back(round_s(i, 12e6, 12e6, model));
        worst.push_back(round_s(i, 150e6 / asked, 50e6 / asked, model));
    }
    std::ranges::sort(best);
    constexpr int rounds = 3;
    const double round = run_of_all_present(fedavg, rounds * local_steps).sim_time_s / rounds;

    CHECK(round >= best[kept - 1]);
    CHECK(round <= std::ranges::max(worst) + 0.001);  // the server's link
}

TEST_CASE("mobile, figures: Local SGD takes the slowest phone's steps and a ring at 3G's pace") {
    const Metrics m = run_of_all_present(local_sgd, local_steps);

    double slowest = 0;
    for (int i = 0; i < phones; ++i) slowest = std::max(slowest, gradient_s(i));
    const double hops = 2 * (phones - 1);
    const double all_reduce = hops * (8 * model / phones / 768e3 + 0.15 + 0.035);
    CHECK(sent(m) == Approx(hops * model).epsilon(1e-4));
    CHECK(m.sim_time_s == Approx(local_steps * slowest + all_reduce).epsilon(0.02));
}

TEST_CASE("mobile, figures: DGC gathers everyone's message at everyone") {
    constexpr int steps = 3;
    const Metrics m = run_of_all_present(dgc, steps);

    double entries = 0;
    for (const Tensor& tensor : layout().tensors())
        if (tensor.compressible())
            entries += std::ceil(0.001 * static_cast<double>(tensor.entries()));
    const double message = 6 * entries;
    // 36 of the phones are left out of recursive doubling, which runs among 64.
    const double doubling = (64 * 6 + 36 * 2) * uncompressed;
    CHECK(m.density.value() == Approx(0.001).epsilon(0.1));
    CHECK(sent(m) == Approx(steps * (phones * (phones - 1) * message + doubling)).epsilon(0.01));
    // A 3G phone sends less than its link allows.
    CHECK(m.sim_time_s / steps > (phones - 1) * message * 8 / 768e3);
}

TEST_CASE("mobile, figures: money is the price of the gigabytes") {
    for (const std::string& label : {fedavg, qsgd, dgc}) {
        CAPTURE(label);
        const Metrics m = run(label, after(local_steps), two_hours);
        CHECK(m.cost.value() ==
              Approx(2 * m.total_sent_gb.value() + 2 * m.total_received_gb.value()).epsilon(1e-12));
    }
}

TEST_CASE("mobile, figures: phones are away as their two means have it, and FedAvg goes on") {
    const Metrics m = run(fedavg, at(std::chrono::seconds(3600)), two_hours);

    // All phones are present at first: a(t) = a (1 - exp(-t/tau)), averaged over the run.
    const double a = 0.2;
    const double tau = 1 / (1 / 7200.0 + 1 / 1800.0);
    const double t = 3600;
    CHECK(m.outcome == "time-limit");
    CHECK(m.deaths.value() > 25);
    CHECK(std::abs(m.away_share.value() - a * (1 - tau / t * (1 - std::exp(-t / tau)))) < 0.04);
    CHECK(m.participation.value() > 0.099);
}

TEST_CASE("mobile, figures: a ring of phones that leave sends more than what it finishes") {
    const Metrics m = run(dense, at(std::chrono::seconds(2400)), two_hours);

    // Every gradient except the last contributed to an average.
    CHECK(m.outcome == "time-limit");
    CHECK(m.sim_time_s / m.iterations > 2 * 188);
    CHECK(sent(m) > 1.5 * m.iterations * 2 * (phones - 1) * model);
}

TEST_CASE("mobile, figures: two runs give the same results to the byte") {
    Study two = study();
    std::vector<Point> points;
    for (Point point : study().points) {
        const std::string& label = point.scenario.algorithm.label;
        if (label != qsgd && label != dgc) continue;
        point.scenario.stop = after(10);
        point.scenario.cluster.failures->mean_between = std::chrono::minutes(10);
        points.push_back(std::move(point));
    }
    two.points = Points(std::move(points));
    const auto csv = [&] {
        const std::vector<PointResult> results = run_points(two, 2);
        return results_csv({two, results}) + timeline_csv({two, results});
    };

    CHECK(csv() == csv());
}

}  // namespace
}  // namespace paceline::mobile_figures_test
