// A stand-in runs on the clock of the published net that it replaces, and trains its own
// parameters.
#include <doctest/doctest.h>

#include "tests/app/studies/published_study.hpp"

namespace paceline::stand_in_test {
namespace {

using doctest::Approx;

const PublishedStudy study;

void check_same_clock(const Metrics& trained, const Metrics& timed) {
    CHECK(trained.outcome == "finished");
    CHECK(trained.sim_time_s == timed.sim_time_s);
    CHECK(trained.step_time_s == timed.step_time_s);
    CHECK(trained.compute_s == timed.compute_s);
    CHECK(trained.bytes_sent_per_node_per_step == timed.bytes_sent_per_node_per_step);
    CHECK(trained.bytes_received_per_node_per_step == timed.bytes_received_per_node_per_step);
    CHECK(trained.model_step_time_s == timed.model_step_time_s);
    CHECK(trained.speedup == timed.speedup);
    CHECK(trained.samples_per_s == timed.samples_per_s);
    CHECK(trained.train_loss.has_value());
    CHECK_FALSE(timed.train_loss.has_value());
}

TEST_CASE("stand-in: dense methods have the clock of the net they stand in for") {
    for (const char* algorithm :
         {R"({"kind": "dense"})", R"({"kind": "dense", "all_reduce": "halving-doubling"})",
          R"({"kind": "dense", "wire": "fp16"})",
          R"({"kind": "dense-overlapped", "bucket": "100kB"})", R"({"kind": "pmsgd"})",
          R"({"kind": "pmsgd-lars"})"}) {
        CAPTURE(algorithm);
        const std::string setting = std::string("algorithm=") + algorithm;

        check_same_clock(study.stand_in({setting}), study.timing_only({setting}));
    }
}

TEST_CASE("stand-in: a step's bytes are those of the published tensors, by hand") {
    const Metrics m = study.stand_in({});

    CHECK(m.bytes_sent_per_node_per_step.value() == Approx(2 * 3 / 4.0 * 4 * 100050));
    CHECK(m.compute_s.value() == Approx(30e-3));
}

TEST_CASE("stand-in: decentralized methods have its clock, on rings and on complete graphs") {
    for (const char* kind : {"dsgd", "dmsgd", "da-dmsgd", "decentlam"})
        for (const char* mixing : {"ring", "complete"}) {
            CAPTURE(kind);
            CAPTURE(mixing);
            const std::string setting = std::string(R"(algorithm={"kind": ")") + kind +
                                        R"(", "mixing": {"kind": ")" + mixing + R"("}})";

            check_same_clock(study.stand_in({setting}), study.timing_only({setting}));
        }
}

TEST_CASE("stand-in: DGC gathers the density it measures, of the published compressible tensor") {
    // 0.1 of the net's 10 x 20 weights is 20 entries: 0.1 of the published 200 x 500 is 10000.
    const std::string dgc =
        R"(algorithm={"kind": "dgc", "density": 0.1, "warm_up": "none", "selection": "free",
            "encoding": "fp32-int32", "exchange": "all-gather-ring", "uncompressed": "gathered"})";

    const Metrics m = study.stand_in({dgc});

    // Each of four workers sends three blocks: entries of 8 bytes, and the bias in fp32.
    CHECK(m.bytes_sent_per_node_per_step.value() == Approx(3 * (8 * 10000 + 4 * 50)));
    check_same_clock(m, study.timing_only({dgc}));
}

TEST_CASE("stand-in: selection is charged for the published tensors") {
    const auto dgc = [](const char* selection) {
        return std::string(R"(algorithm={"kind": "dgc", "density": 0.1, "warm_up": "none",
            "exchange": "all-gather-ring", "selection": ")") +
               selection + R"("})";
    };
    const Metrics free = study.stand_in({dgc("free")});
    const Metrics exact = study.stand_in({dgc("exact")});

    CHECK(exact.step_time_s.value() > free.step_time_s.value());
    CHECK(exact.step_time_s == study.timing_only({dgc("exact")}).step_time_s);
}

TEST_CASE("stand-in: its gradient may be charged for another batch than the net computes") {
    const Scenario scenario = study.scenario({study.stands_in, "workload.stand_in_for.batch=32"});
    const Metrics other = study.stand_in({"workload.stand_in_for.batch=32"});
    const Metrics same = study.stand_in({});

    CHECK(scenario.workload.batch == 8);
    CHECK(scenario.workload.stand_in_batch == 32);
    CHECK(scenario.training->stand_in);
    CHECK(scenario.workload.layout->entries() == 100050);
    CHECK(scenario.training->model.layout->entries() == 210);
    CHECK(other.samples_per_s.value() == Approx(4 * same.samples_per_s.value()));
    CHECK(other.epochs == same.epochs);
    CHECK(other.train_loss == same.train_loss);
}

TEST_CASE("stand-in: by a device, its time is that of its own batch, else of the workload's") {
    const auto gradient = [](const char* more) {
        const std::string json = std::string(R"(workload.stand_in_for={"profile": "vgg-16",
            "device": "v100", "efficiency": 0.5)") +
                                 more + "}";
        return study.scenario({study.stands_in, json}).workload.gradient;
    };

    CHECK(to_seconds(gradient(R"(, "batch": 32)")) == Approx(4 * to_seconds(gradient(""))));
}

TEST_CASE("stand-in: it learns as the net does on its own clock") {
    const std::string own = R"(workload={"model": {"kind": "mlp", "hidden": []},
        "data": {"kind": "gaussian-mixture", "train": 256, "test": 64}, "batch": 8,
        "step_time": "1ms"})";
    for (const char* algorithm :
         {R"({"kind": "dense"})", R"({"kind": "decentlam", "mixing": {"kind": "ring"}})",
          R"({"kind": "dgc", "density": 0.1, "warm_up": "none"})",
          R"({"kind": "gradient-dropping", "density": 0.1, "dense_steps": 2})"}) {
        CAPTURE(algorithm);
        const std::string setting = std::string("algorithm=") + algorithm;

        const Metrics charged = study.stand_in({setting});
        const Metrics by_itself = study.run({own, setting});

        CHECK(charged.train_loss == by_itself.train_loss);
        CHECK(charged.test_accuracy == by_itself.test_accuracy);
        CHECK(charged.sim_time_s > by_itself.sim_time_s);
    }
}

}  // namespace
}  // namespace paceline::stand_in_test
