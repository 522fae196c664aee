#include "app/scenario/cluster/libraries.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "tests/app/study/small_study.hpp"

namespace paceline::libraries_test {
namespace {

using doctest::Approx;

constexpr double start_up_s = 2e-3;
const std::string started = R"(cluster.library={"start_up": "2ms"})";

double growth(const SmallStudy& study, const std::vector<std::string>& settings) {
    std::vector<std::string> slow = settings;
    slow.push_back(started);
    return study.run(slow).step_time_s.value() - study.run(settings).step_time_s.value();
}

TEST_CASE("libraries: one collective a step costs one start-up, and the closed form says so") {
    const SmallStudy study(5, 3);
    for (const char* how : {"ring", "recursive-doubling", "halving-doubling", "tree"}) {
        CAPTURE(how);
        const std::string algorithm =
            fmt::format(R"(algorithm={{"kind": "dense", "all_reduce": "{}"}})", how);
        const Metrics m = study.run({algorithm, started});

        CHECK(growth(study, {algorithm}) == Approx(start_up_s).epsilon(1e-6));
        CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-6));
    }
}

TEST_CASE("libraries: k tensors after backward cost k start-ups on one stream, k/s on s streams") {
    const SmallStudy study(4, 2);
    const std::string net = R"(workload={"profile": "alexnet", "step_time": "1ms"})";
    const auto schedule = [](int streams) {
        return fmt::format(
            R"(algorithm={{"kind": "sgd", "schedule": {{"pieces": "tensors", "streams": {},
                           "begin": "after-backward"}}}})",
            streams);
    };
    constexpr int tensors = 16;

    CHECK(growth(study, {net, schedule(1)}) == Approx(tensors * start_up_s).epsilon(1e-6));
    CHECK(growth(study, {net, schedule(tensors)}) <= start_up_s * 1.001);
}

TEST_CASE("libraries: starting occupies the stream and not the device") {
    const SmallStudy study(4, 2);
    const std::string net = R"(workload={"profile": "alexnet", "step_time": "3s"})";
    const std::string beside = R"(algorithm={"kind": "sgd", "schedule": "tensors"})";

    // Backward takes two thirds of 3 s and hides all exchanges but the last.
    CHECK(growth(study, {net, beside}) == Approx(start_up_s).epsilon(1e-3));
}

// A block of 4 gradients of 10 ms beside an all-reduce of A: its work ends at 40 ms + s A, or with
// (1 - s) A > 40 ms before the all-reduce does.
TEST_CASE("libraries: computing slows beside a collective by the share that its kernels hold") {
    const SmallStudy study(4, 40);
    for (const double share : {0.0, 0.159, 0.5, 0.9})
        for (const char* gradient : {"10MB", "30MB", "46MB", "80MB"}) {
            CAPTURE(share);
            CAPTURE(gradient);
            const std::vector<std::string> net = {
                fmt::format(R"(workload={{"gradient": "{}", "step_time": "10ms"}})", gradient),
                R"(algorithm={"kind": "overlap-local-sgd", "period": 4})"};
            const double all_reduce_s =
                study.run({net[0], R"(workload.step_time="0s")", R"(algorithm={"kind": "dense"})"})
                    .step_time_s.value();
            std::vector<std::string> shared = net;
            shared.push_back(fmt::format(R"(cluster.library={{"occupies": {}}})", share));
            const Metrics m = study.run(shared);

            const bool works_longer = (1 - share) * all_reduce_s <= 0.04;
            const double block_s = works_longer ? 0.04 + share * all_reduce_s : all_reduce_s;
            const double mean_s = (0.04 + 9 * block_s) / 40;  // beside the first, there is none
            CHECK(m.step_time_s.value() == Approx(mean_s).epsilon(1e-6));
            if (works_longer) CHECK(m.compute_s.value() == Approx(mean_s).epsilon(1e-6));
        }
}

TEST_CASE("libraries: kernels of collectives cost nothing where nothing is computed beside them") {
    const SmallStudy study(4, 3);
    const std::string share = R"(cluster.library={"occupies": 0.5})";
    const std::string after = R"(algorithm={"kind": "dense"})";
    const Metrics m = study.run({after, share});
    CHECK(m.step_time_s == study.run({after}).step_time_s);
    CHECK(m.model_step_time_s == study.run({after}).model_step_time_s);

    // Beside backward, no closed form is claimed.
    const std::string net = R"(workload={"profile": "alexnet", "step_time": "3s"})";
    const std::string beside = R"(algorithm={"kind": "ddp"})";
    CHECK(study.run({net, beside}).model_step_time_s.has_value());
    CHECK_FALSE(study.run({net, beside, share}).model_step_time_s.has_value());
    CHECK(study.run({net, beside, share}).step_time_s.value() >
          study.run({net, beside}).step_time_s.value());
}

TEST_CASE("libraries: nobody to exchange with, nothing to start") {
    const SmallStudy study(1, 3);
    CHECK(growth(study, {}) == 0);
}

TEST_CASE("libraries: an exchange with neighbors starts once, pairs of gossip do not") {
    const SmallStudy study(4, 3);
    const std::string ring = R"(algorithm={"kind": "dsgd", "mixing": {"kind": "ring"}})";
    const std::string pairs = R"(algorithm={"kind": "swarm-sgd", "mixing": {"kind": "complete"}})";

    CHECK(growth(study, {ring}) == Approx(start_up_s).epsilon(1e-6));
    CHECK(growth(study, {pairs}) == Approx(0));
}

TEST_CASE("libraries: eager messages of a tree's children come at once") {
    const SmallStudy study(8, 1);
    const std::string reduce = R"(algorithm={"kind": "collective", "operation": "reduce"})";
    const std::string net = R"(workload={"gradient": "100MB", "step_time": "0s"})";
    const Metrics turns = study.run({reduce, net});
    const Metrics at_once = study.run({reduce, net, R"(cluster.library={"protocol": "eager"})"});

    // 7 messages of 80 ms: by rendezvous the root takes three in turns, each when its sender is
    // ready.
    CHECK(turns.sim_time_s == Approx(0.24));
    CHECK(at_once.sim_time_s >= 0.24);
    CHECK_FALSE(at_once.model_step_time_s.has_value());
}

TEST_CASE("libraries: an unknown protocol is refused") {
    const SmallStudy study(2, 1);
    CHECK_THROWS_WITH_AS(static_cast<void>(study.run({R"(cluster.library={"protocol": "lazy"})"})),
                         doctest::Contains("cluster.library.protocol: \"lazy\" is not a protocol"),
                         ConfigError);
}

TEST_CASE("libraries: staging copies in and out, in series with the messages") {
    const SmallStudy study(4, 2);
    const std::string net = R"(workload={"gradient": "100MB", "step_time": "1ms"})";
    const std::string at_2_GBps = R"(cluster.library={"staging": "2GBps"})";
    const auto copies = [&](const std::string& algorithm) {
        const Metrics plain = study.run({net, algorithm});
        const Metrics m = study.run({net, algorithm, at_2_GBps});
        CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-9));
        return m.step_time_s.value() - plain.step_time_s.value();
    };
    CHECK(copies(R"(algorithm={"kind": "dense"})") == Approx(0.05 + 0.05));
    CHECK(copies(R"(algorithm={"kind": "dense", "all_reduce": "tree"})") == Approx(0.1));
    // Warm-up aside, the 1-bit signs of 25 million entries, 3.125 MB: all of them to their owners
    // and back, a fourth into the gather and all out of it; and 4 and 16 bytes of scales, twice.
    CHECK(copies(R"(algorithm={"kind": "sgd", "codec": {"kind": "one-bit", "fused": true}})") ==
          Approx((3.25 * 3.125e6 + 2 * 20) / 2e9).epsilon(1e-6));
    // A message of 25 MB goes in, four come out.
    CHECK(copies(R"(algorithm={"kind": "sgd", "codec": {"kind": "sign", "entry_bits": 8},
                               "aggregation": "all-gather"})") == Approx(5 * 0.0125));
}

TEST_CASE("libraries: devices of a machine share the copies, as far as there are devices") {
    const SmallStudy study(1, 2);
    for (const int devices : {2, 3, 4, 8, 12}) {
        CAPTURE(devices);
        const std::string cluster = fmt::format(
            R"(cluster={{"devices": {}, "devices_per_node": 4,
                "bus": {{"kind": "switched", "link": {{"bandwidth": "100GBps", "latency": "0s"}}}},
                "fabric": {{"kind": "star", "link": {{"bandwidth": "100Gbps"}}}}, "library": LIBRARY}})",
            devices);
        const auto step = [&](const std::string& library) {
            std::string with = cluster;
            with.replace(with.find("LIBRARY"), 7, library);
            const Metrics m =
                study.run({with, R"(workload={"gradient": "120MB", "gradient_time": "1ms"})"});
            CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-5));
            return m.step_time_s.value();
        };
        const double copied = std::min(devices, 4) * 2 * 120e6 / 13e9;
        CHECK(step(R"({"staging": "13GBps"})") - step("{}") == Approx(copied).epsilon(1e-6));
    }
}

// n - 1 of n parts are added up; by doubling all of the vector, ceil(log2 n) times.
TEST_CASE("libraries: sums of the host are in series with the messages, and in the closed form") {
    const SmallStudy study(5, 2);
    const std::string net = R"(workload={"gradient": "100MB", "step_time": "1ms"})";
    const auto sums = [&](const std::string& algorithm) {
        const Metrics plain = study.run({net, algorithm});
        const Metrics m = study.run({net, algorithm, R"(cluster.library={"sums": "5GBps"})"});
        CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-9));
        return m.step_time_s.value() - plain.step_time_s.value();
    };
    CHECK(sums(R"(algorithm={"kind": "dense"})") == Approx(0.8 * 0.1 / 5));
    CHECK(sums(R"(algorithm={"kind": "dense", "all_reduce": "halving-doubling"})") ==
          Approx(0.8 * 0.1 / 5));
    CHECK(sums(R"(algorithm={"kind": "dense", "all_reduce": "recursive-doubling"})") ==
          Approx(3 * 0.1 / 5));
    CHECK(sums(R"(algorithm={"kind": "sgd", "codec": "sign", "aggregation": "all-gather"})") == 0);
}

TEST_CASE("libraries: sums are refused where a member does not add up in series") {
    const SmallStudy study(4, 1);
    for (const char* how : {R"("tree")", R"({"kind": "pipelined-ring"})",
                            R"({"kind": "double-tree"})", R"({"kind": "parameter-server"})"}) {
        CAPTURE(how);
        CHECK_THROWS_WITH_AS(
            static_cast<void>(study.run(
                {R"(cluster.library={"sums": "1GBps"})",
                 fmt::format(R"(algorithm={{"kind": "dense", "all_reduce": {}}})", how)})),
            doctest::Contains("cannot be used with \"cluster.library.sums\": they are modeled for"),
            ConfigError);
    }
}

TEST_CASE("libraries: staging is refused where it is not modeled") {
    const SmallStudy study(4, 1);
    for (const char* algorithm : {R"({"kind": "dsgd", "mixing": {"kind": "ring"}})",
                                  R"({"kind": "swarm-sgd", "mixing": {"kind": "complete"}})",
                                  R"({"kind": "sgd", "codec": "qsgd", "aggregation": "two-phase"})",
                                  R"({"kind": "one-bit-sgd"})", R"({"kind": "dgc"})"}) {
        CAPTURE(algorithm);
        CHECK_THROWS_WITH_AS(
            static_cast<void>(study.run({R"(cluster.library={"staging": "1GBps"})",
                                         fmt::format("algorithm={}", algorithm)})),
            doctest::Contains("algorithm: cannot be used with \"cluster.library.staging\": it is "),
            ConfigError);
    }
}

TEST_CASE("libraries: presets have a source, and figures beside a preset replace its own") {
    CHECK(library_presets().size() == 3);
    for (const LibraryPreset& preset : library_presets()) {
        CAPTURE(preset.name);
        CHECK(preset.source.size() > 40);
    }
    const SmallStudy study(4, 2);
    const std::string net = R"(workload={"gradient": "100MB", "step_time": "1ms"})";
    const auto step = [&](const std::string& library, const std::string& all_reduce) {
        return study
            .run({net, fmt::format("cluster.library={}", library),
                  fmt::format(R"(algorithm={{"kind": "dense", "all_reduce": {}}})", all_reduce)})
            .step_time_s.value();
    };
    CHECK(step(R"("nccl")", R"("library")") ==
          step(R"({"start_up": "6.6us", "all_reduce": "nccl"})", R"("library")"));
    CHECK(step(R"({"preset": "nccl", "start_up": "1ms"})", R"("library")") ==
          Approx(step(R"("nccl")", R"("library")") + 1e-3 - 6.6e-6).epsilon(1e-9));
    CHECK(step(R"("nccl")", R"("ring")") == step(R"({"start_up": "6.6us"})", R"("ring")"));
    CHECK(step(R"({"preset": "gloo", "all_reduce": "tree"})", R"("library")") ==
          step(R"({"protocol": "rendezvous-in-band"})", R"("tree")"));
    CHECK(step(R"("open-mpi-tcp")", R"("ring")") ==
          step(R"({"start_up": "236us", "staging": "11.97GBps"})", R"("ring")"));
    CHECK(step("{}", R"("library")") == step("{}", R"("ring")"));
}

}  // namespace
}  // namespace paceline::libraries_test
