// A training method of one's own in C++, outside of paceline's tree: change `seldom` and its
// options.
//
// The program runs the study of a scenario whose "algorithm" is {"kind": "mine:seldom", ...}, or
// any of the table beside it, and writes results.csv, timeline.csv and summary.csv, which
// `paceline plot FOLDER` draws. docs/how-to/your-own-method.md says more.
//
// Usage: my_method SCENARIO FOLDER
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "algorithms/runtime/worker.hpp"
#include "app/scenario/algorithms/own_method.hpp"
#include "app/study/results_folder.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"

using namespace paceline;

struct SeldomOptions {
    double momentum = 0.9;
    std::int64_t period = 4;
};

// Momentum SGD on each worker; every few steps, averages with the neighbors.
Task<> seldom(Worker& self, SeldomOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    while (self.begins_step()) {
        const Vector g = co_await self.gradient(x);
        m = options.momentum * m + g;
        x -= self.learning_rate() * m;
        co_await self.update();
        if ((self.step() + 1) % options.period == 0) x = co_await self.neighbor_average(x);
    }
}

// Returns the method that a "kind" names; null if it names none of these.
OwnMethodPtr find_method(const Place& kind) {
    if (*kind.json != "mine:seldom") return nullptr;
    OwnMethod method;
    method.options = {"momentum", "period"};
    method.traits.when_nodes_die = WhenNodesDie::renormalizes;
    method.make = [](const Place& algorithm, const ExchangeOptions& /*exchange*/) {
        SeldomOptions options;
        const Json& given = *algorithm.json;
        if (given.contains("momentum"))
            options.momentum = as_share(algorithm.child("momentum", given.at("momentum")));
        if (given.contains("period"))
            options.period =
                as_integer(algorithm.child("period", given.at("period")), 1, 1'000'000);
        return [options](Worker& worker) { return seldom(worker, options); };
    };
    return std::make_shared<const OwnMethod>(std::move(method));
}

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: my_method SCENARIO FOLDER\n", stderr);
        return 2;
    }
    try {
        const Study study = read_study(open_scenario(argv[1], &find_method), {});
        const OwnFolder folder(argv[2], "my_method");
        StudyOptions options;
        const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
        options.pool = {cores, cores};
        const StudyOutcome outcome = run_study(study, options);
        replace_results(folder.path(), study, outcome.results, {static_cast<int>(cores), 0, true});
        std::printf("%zu points; results in %s\n", study.points.size(), argv[2]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "my_method: %s\n", error.what());
        return 1;
    }
}
