// Three uses of the libraries from an external program: a ring all-reduce on a simulated star,
// values that are allocated on one side of the library's boundary and freed on the other, and a
// whole scenario from a file. Prints the results, and fails if one of them is wrong.
//
// Usage: consumer SCENARIO
#include <cstdio>
#include <memory>
#include <string>

#include "analysis/forms/closed_forms.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/engine/processes.hpp"
#include "topologies/fabrics/star.hpp"

using namespace paceline;

// Returns the simulated time of one ring all-reduce among n nodes.
Duration simulated_all_reduce(int n, Bytes size, const Link& link) {
    Simulation simulation;
    Network network(simulation, make_star(n, link, link));
    const auto group = whole_group(n);
    Processes processes(simulation);
    for (int place = 0; place < n; ++place)
        processes.spawn("node " + std::to_string(place),
                        ring_all_reduce(Rank(network, group, place, 1), size));
    simulation.run();
    return simulation.now().time_since_epoch();
}

// The library frees what this program has allocated, and vice versa.
double norm_after_exchange_of_memory() {
    const LayoutPtr layout = std::make_shared<const Layout>(Layout{{{"x", {1000}}}});
    Vector x(layout, Eigen::VectorXd::Constant(1000, 3));
    for (int i = 0; i < 1000; ++i) {
        x += 0.001 * Vector(layout, Eigen::VectorXd::Constant(1000, 1));
        x = Vector(layout, Eigen::VectorXd(x.values()));
    }
    return x.values().norm();
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const Link link{Bandwidth{1'000'000'000}, std::chrono::microseconds(25)};
    const Duration simulated = simulated_all_reduce(8, Bytes{1'000'000}, link);
    const Duration closed =
        ring_all_reduce_time(8, Bytes{1'000'000}, {link.bandwidth, 2 * link.latency});
    std::printf("all-reduce: simulated %.9f s, closed form %.9f s\n", to_seconds(simulated),
                to_seconds(closed));

    const double norm = norm_after_exchange_of_memory();
    std::printf("norm: %.6f\n", norm);

    const Study study = read_study(argv[1], {"stop.iterations=3"});
    const Metrics metrics = run_point(study.points.front().scenario, nullptr);
    std::printf("%s: %s after %.9f s\n", argv[1], metrics.outcome.c_str(), metrics.sim_time_s);

    const bool as_expected =
        simulated == closed && norm > 126.49 && norm < 126.5 && metrics.outcome == "finished";
    return as_expected ? 0 : 1;
}
