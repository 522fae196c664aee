// The server methods as scenarios name them, end to end.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/studies/run_points.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::server_family_test {
namespace {

using doctest::Approx;

const TrainingStudy study;

const std::vector<std::string> kinds{
    R"({"kind": "ps-sync"})",
    R"({"kind": "ps-sync", "all_reduce": {"kind": "parameter-server", "servers": 2}})",
    R"({"kind": "ps-async"})",
    R"({"kind": "ps-stale", "bound": 0})",
    R"({"kind": "ps-stale"})",
    R"({"kind": "fedavg", "local_steps": 2})",
    R"({"kind": "fedavg", "fraction": 0.5, "local_steps": 3, "wire": "fp16"})",
    R"({"kind": "fedprox", "local_steps": 2, "mu": 0.5})",
    R"({"kind": "fedopt", "local_steps": 2, "rule": "yogi", "server_learning_rate": 0.01})",
    R"({"kind": "fedopt", "local_steps": 2, "rule": "momentum", "wire": "fp16"})",
    R"({"kind": "scaffold", "fraction": 0.5, "local_steps": 3, "wire": "fp16"})"};

TEST_CASE("server family: the step takes what the step model says, with and without values") {
    for (const std::string& kind : kinds)
        for (const int n : {2, 4, 7}) {
            CAPTURE(kind);
            CAPTURE(n);
            const std::vector<std::string> settings{"algorithm=" + kind,
                                                    fmt::format("cluster.nodes={}", n),
                                                    "workload.update_time=3us"};
            const Metrics m = study.run(settings);

            CHECK(m.outcome == "finished");
            CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-9));
        }
}

TEST_CASE("server family: it trains, and as a stand-in costs what the published net weighs") {
    const std::string plain =
        R"(workload={"profile": "resnet-110", "step_time": "10ms", "batch": 8})";
    const std::string stand_in =
        R"(workload={"model": {"kind": "mlp", "hidden": [8]},
                     "data": {"kind": "gaussian-mixture", "train": 256, "test": 64}, "batch": 8,
                     "stand_in_for": {"profile": "resnet-110", "step_time": "10ms"}})";
    const TemporaryFolder folder;
    const std::string timing = folder.write("timing.json", R"({
        "cluster": {"nodes": 4, "fabric": {"kind": "star",
                    "link": {"bandwidth": "1Gbps", "latency": "5us"}}},
        "workload": {"profile": "resnet-110", "step_time": "10ms", "batch": 8},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 6}})");
    for (const std::string& kind : kinds) {
        CAPTURE(kind);
        const Metrics trained = study.run({"algorithm=" + kind, stand_in});
        const Metrics timed =
            run_points(read_study(timing, {"algorithm=" + kind}), 1).front().metrics;

        CHECK(trained.sim_time_s == timed.sim_time_s);
        CHECK(trained.bytes_sent_per_node_per_step == timed.bytes_sent_per_node_per_step);
        CHECK(trained.timeline.back().train_loss < trained.timeline.front().train_loss);
    }
}

TEST_CASE("server family: ps-sync is dense with the parameter server, to the bit") {
    const Metrics sync = study.run({R"(algorithm={"kind": "ps-sync"})"});
    const Metrics dense =
        study.run({R"(algorithm={"kind": "dense", "all_reduce": "parameter-server"})"});

    CHECK(sync.train_loss == dense.train_loss);
    CHECK(sync.sim_time_s == dense.sim_time_s);
    CHECK(sync.model_step_time_s == dense.model_step_time_s);
}

TEST_CASE("server family: ps-stale with bound 0 has the loss of dense") {
    // the two sum in different orders, so the model computes in double, which nets do not
    const std::string in_double = R"(workload.model={"kind": "softmax-regression"})";
    const Metrics stale = study.run({R"(algorithm={"kind": "ps-stale", "bound": 0})", in_double});
    const Metrics dense = study.run({in_double});

    CHECK(stale.train_loss.value() == Approx(dense.train_loss.value()).epsilon(1e-9));
}

TEST_CASE("server family: what a run sends is counted before it runs") {
    for (const std::string& kind : kinds) {
        CAPTURE(kind);
        const Scenario scenario = study.scenario({"algorithm=" + kind});
        const Metrics m = study.run({"algorithm=" + kind});
        const auto model = static_cast<double>(scenario.algorithm.wire.weigh(258).count);
        const bool by_two = kind.find("\"servers\": 2") != std::string::npos;
        const bool two_vectors = kind.find("scaffold") != std::string::npos;
        const double sent = m.bytes_sent_per_node_per_step.value() * 4 * m.iterations;

        // Half of the messages come from the workers; with two servers, each gets half a model.
        // SCAFFOLD sends a control variate with each model.
        CHECK(messages_of_run(scenario).value() / 2 * model / (by_two ? 2 : 1) *
                  (two_vectors ? 2 : 1) ==
              Approx(sent).epsilon(1e-12));
    }
}

TEST_CASE("server family: FedAvg weighs models by the samples of their shards") {
    const std::string fedavg = R"(algorithm={"kind": "fedavg"})";
    const std::string unequal =
        R"(workload.data={"kind": "gaussian-mixture", "train": 256, "test": 64,
                          "partition": {"kind": "dirichlet", "alpha": 0.3}})";
    const std::string plain = R"(optimizer={"learning_rate": 0.1, "momentum": 0})";

    const double equal_shards = study.run({fedavg, plain}).train_loss.value();
    const double unequal_shards = study.run({fedavg, plain, unequal}).train_loss.value();

    // The net computes in float: one batch of all workers rounds differently from one batch per
    // worker.
    CHECK(equal_shards == Approx(study.run({plain}).train_loss.value()).epsilon(1e-7));
    CHECK(std::abs(unequal_shards - study.run({plain, unequal}).train_loss.value()) > 1e-6);
}

TEST_CASE("server family: iterations and epochs of FedAvg count gradients that were computed") {
    const Metrics m =
        study.run({R"(algorithm={"kind": "fedavg", "fraction": 0.5, "local_steps": 3})"});

    CHECK(m.iterations == 3);  // 6 steps, each by two of four workers
    CHECK(m.epochs.value() == Approx(6 * 2 * 8 / 256.0));
    CHECK(m.compression_ratio == Approx(3).epsilon(1e-2));
}

// 256 samples on 4 workers, in batches of 8. The oracle: 2 passes through shards of 64 samples are
// 16 steps, half a pass is 4.
TEST_CASE("server family: local epochs are passes through a client's shard") {
    const auto run = [&](const std::string& kind, const std::string& how, const char* data = "") {
        std::vector<std::string> settings{
            fmt::format(R"(algorithm={{"kind": "{}", {}}})", kind, how), "stop.iterations=32"};
        if (*data != 0) settings.emplace_back(data);
        return study.scenario(settings);
    };
    for (const char* kind : {"fedavg", "fedprox", "fedopt", "scaffold"}) {
        CAPTURE(kind);
        for (const auto& [epochs, steps] :
             {std::pair{"2", 16}, std::pair{"0.5", 4}, std::pair{"0.06", 1}, std::pair{"0.3", 2}}) {
            CAPTURE(epochs);
            const auto how = fmt::format(R"("local_epochs": {})", epochs);
            CHECK(run(kind, how).algorithm.period == steps);
            const Metrics by_epochs = run_point(run(kind, how), nullptr);
            const Metrics by_steps =
                run_point(run(kind, fmt::format(R"("local_steps": {})", steps)), nullptr);
            CHECK(by_epochs.sim_time_s == by_steps.sim_time_s);
            CHECK(by_epochs.train_loss == by_steps.train_loss);
        }
        CHECK_THROWS_AS((void)run(kind, R"("local_epochs": 1, "local_steps": 2)"), ConfigError);
        CHECK_THROWS_AS((void)run(kind, R"("local_epochs": 1)",
                                  R"(workload.data={"kind": "gaussian-mixture", "train": 256,
                                     "test": 64, "partition": {"kind": "dirichlet", "alpha": 1}})"),
                        ConfigError);
    }
}

}  // namespace
}  // namespace paceline::server_family_test
