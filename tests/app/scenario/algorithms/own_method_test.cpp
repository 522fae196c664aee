#include "app/scenario/algorithms/own_method.hpp"

#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "algorithms/runtime/worker.hpp"
#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::own_method_test {
namespace {

Task<> damped(Worker& self, double damping) {
    Vector& x = self.model();
    while (self.begins_step()) {
        const double gamma = damping * self.learning_rate();
        const Vector g = co_await self.gradient(x);
        x = co_await self.neighbor_average(x - gamma * g);
        co_await self.update();
    }
}

// A caller's sources, which know one method: DSGD whose steps are "damping" times the rate.
Sources with_method() {
    Sources sources = in_memory({});
    sources.own.method = [](const Place& kind) -> OwnMethodPtr {
        if (*kind.json != "mine:damped") return nullptr;
        OwnMethod method;
        method.options = {"damping"};
        method.make = [](const Place& algorithm, const ExchangeOptions&) {
            double damping = 1;
            if (algorithm.json->contains("damping"))
                damping =
                    as_number_up_to(algorithm.child("damping", algorithm.json->at("damping")), 1);
            return [damping](Worker& worker) { return damped(worker, damping); };
        };
        return std::make_shared<const OwnMethod>(std::move(method));
    };
    return sources;
}

Point point_of(const Json& algorithm, double rate, Sources sources = with_method()) {
    const Json scenario = {
        {"cluster",
         {{"nodes", 4},
          {"fabric", {{"kind", "star"}, {"link", {{"bandwidth", "1Gbps"}, {"latency", "10us"}}}}}}},
        {"workload",
         {{"model", {{"kind", "softmax-regression"}}},
          {"data", {{"kind", "gaussian-mixture"}, {"train", 64}, {"test", 16}}},
          {"batch", 4},
          {"step_time", "1ms"}}},
        {"optimizer", {{"learning_rate", rate}}},
        {"algorithm", algorithm},
        {"stop", {{"iterations", 5}}}};
    return read_single_point({"scenario", scenario.dump(), std::move(sources)}, {});
}

std::string refusal_of(const Json& algorithm, Sources sources = with_method()) {
    try {
        (void)point_of(algorithm, 0.1, std::move(sources));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("own method: one that the caller brings runs as one of the table does") {
    const Json ring = {{"kind", "ring"}};
    const Metrics own = run_point(
        point_of({{"kind", "mine:damped"}, {"mixing", ring}, {"damping", 0.5}}, 0.2).scenario,
        nullptr);
    const Metrics known =
        run_point(point_of({{"kind", "dsgd"}, {"mixing", ring}}, 0.1).scenario, nullptr);

    CHECK(own.outcome == "finished");
    CHECK(own.train_loss == known.train_loss);
    CHECK(own.step_time_s == known.step_time_s);
    CHECK(own.bytes_sent_per_node_per_step == known.bytes_sent_per_node_per_step);
    CHECK_FALSE(own.model_step_time_s.has_value());
    CHECK_FALSE(own.compression_ratio.has_value());
    CHECK(point_of({{"kind", "mine:damped"}, {"mixing", ring}}, 0.2).scenario.algorithm.label ==
          "mine:damped");
}

TEST_CASE("own method: its options are its own, and errors name their place") {
    CHECK(refusal_of({{"kind", "mine:damped"}, {"dampign", 0.5}})
              .starts_with("scenario: algorithm.dampign: \"dampign\" is not a key here; did you "
                           "mean \"damping\"?"));
    CHECK(refusal_of({{"kind", "mine:damped"}, {"damping", 2}})
              .starts_with("scenario: algorithm.damping: 2 is not"));
    const Json into_forward = {{"pieces", "tensors"}, {"begin", "into-forward"}};
    CHECK(refusal_of({{"kind", "mine:damped"}, {"schedule", into_forward}})
              .starts_with("scenario: algorithm.schedule: \"into-forward\" is for methods of the "
                           "table"));
}

TEST_CASE("own method: who brings none says how such a method runs") {
    for (const Sources& sources : {with_method(), in_memory({})})
        CHECK(refusal_of({{"kind", "methods.py:dsgd"}}, sources) ==
              "scenario: algorithm.kind: \"methods.py:dsgd\" is a method in Python, which runs in "
              "Python alone: python3 -m paceline run, or paceline.run "
              "(docs/how-to/your-own-method.md)");
}

}  // namespace
}  // namespace paceline::own_method_test
