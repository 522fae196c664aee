// Methods that coincide in a special case train alike from the same scenario.
#include <doctest/doctest.h>

#include "tests/app/studies/training_study.hpp"

namespace paceline::training_reductions_test {
namespace {

const TrainingStudy study;

// Forty steps with momentum, decay and a schedule, on shards by label.
Metrics train(const std::string& algorithm, const std::vector<std::string>& more = {}) {
    std::vector<std::string> settings{
        "algorithm=" + algorithm,
        R"(optimizer={"learning_rate": 0.1, "momentum": 0.8, "weight_decay": 0.01,
                      "schedule": {"kind": "cosine", "warm_up": 0.1}})",
        R"(workload.data={"kind": "gaussian-mixture", "train": 256, "test": 64,
                          "partition": {"kind": "label-sorted"}})",
        "measure.every=10 iterations", "stop.iterations=40"};
    settings.insert(settings.end(), more.begin(), more.end());
    return study.run(settings);
}

void check_alike(const Metrics& a, const Metrics& b, double tolerance) {
    REQUIRE(a.timeline.size() == 5);
    REQUIRE(b.timeline.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CAPTURE(i);
        const double train = a.timeline[i].train_loss;
        CHECK(b.timeline[i].train_loss == doctest::Approx(train).epsilon(tolerance));
        CHECK(b.timeline[i].test_loss ==
              doctest::Approx(a.timeline[i].test_loss).epsilon(tolerance));
    }
    CHECK(a.timeline.back().train_loss < 0.9 * a.timeline.front().train_loss);
}

// In double precision, so that the order of sums does not matter in the first ten digits.
const std::vector<std::string> in_double{R"(workload.model={"kind": "softmax-regression"})"};

TEST_CASE("reductions: on a complete graph decentralized momentum methods are dense momentum SGD") {
    const Metrics dense = train(R"({"kind": "dense"})");
    const Metrics dense_in_double = train(R"({"kind": "dense"})", in_double);
    for (const char* kind : {"decentlam", "dmsgd", "da-dmsgd"}) {
        CAPTURE(kind);
        const std::string algorithm =
            std::string(R"({"kind": ")") + kind + R"(", "mixing": {"kind": "complete"}})";

        check_alike(dense, train(algorithm), 1e-4);
        check_alike(dense_in_double, train(algorithm, in_double), 1e-10);
    }
}

TEST_CASE("reductions: without momentum they are dense SGD, and so is DSGD") {
    const std::vector<std::string> plain{in_double.front(), "optimizer.momentum=0"};
    const Metrics dense = train(R"({"kind": "dense"})", plain);

    for (const char* kind : {"decentlam", "dmsgd", "da-dmsgd", "dsgd"}) {
        CAPTURE(kind);
        const std::string algorithm =
            std::string(R"({"kind": ")") + kind + R"(", "mixing": {"kind": "complete"}})";

        check_alike(dense, train(algorithm, plain), 1e-10);
    }
    CHECK(dense.train_loss != train(R"({"kind": "dense"})", in_double).train_loss);
}

TEST_CASE("reductions: PmSGD is dense SGD by another name, bit by bit") {
    const Metrics dense = train(R"({"kind": "dense"})");
    const Metrics pmsgd = train(R"({"kind": "pmsgd"})");

    check_alike(dense, pmsgd, 1e-15);
    CHECK(dense.train_loss == pmsgd.train_loss);
    CHECK(dense.sim_time_s == pmsgd.sim_time_s);
}

TEST_CASE("reductions: overlapping communication and choosing the all-reduce change no value") {
    const Metrics dense = train(R"({"kind": "dense"})", in_double);

    check_alike(dense, train(R"({"kind": "dense-overlapped", "bucket": "100B"})", in_double),
                1e-10);
    check_alike(dense, train(R"({"kind": "dense", "all_reduce": "tree"})", in_double), 1e-15);
}

TEST_CASE("reductions: DGC that sends everything and masks nothing is dense momentum SGD") {
    const std::string whole =
        R"({"kind": "dgc", "density": 1, "masking": false, "warm_up": "none"})";

    check_alike(train(R"({"kind": "dense"})", in_double), train(whole, in_double), 1e-10);
    check_alike(train(R"({"kind": "dense"})"), train(whole), 1e-4);
}

TEST_CASE("reductions: DGC that sends everything is Nesterov's method if its variant is") {
    const std::vector<std::string> nesterov{in_double.front(), "optimizer.nesterov=true"};
    const std::string whole =
        R"({"kind": "dgc", "density": 1, "masking": false, "warm_up": "none"})";

    check_alike(train(R"({"kind": "dense"})", nesterov), train(whole, nesterov), 1e-10);
    CHECK(train(whole, nesterov).train_loss != train(whole, in_double).train_loss);
}

TEST_CASE("reductions: gradient dropping is dense while all its steps are") {
    const std::string dropping = R"({"kind": "gradient-dropping", "dense_steps": 40})";

    check_alike(train(R"({"kind": "dense"})", in_double), train(dropping, in_double), 1e-10);
}

TEST_CASE("reductions: one worker alone trains alike by every method that sends everything") {
    const std::vector<std::string> alone{in_double.front(), "cluster.nodes=1"};
    const Metrics dense = train(R"({"kind": "dense"})", alone);

    check_alike(dense, train(R"({"kind": "decentlam", "mixing": {"kind": "complete"}})", alone),
                1e-10);
    check_alike(
        dense,
        train(R"({"kind": "dgc", "density": 1, "masking": false, "warm_up": "none"})", alone),
        1e-10);
}

TEST_CASE("reductions: a batch of all workers is that of one worker with all samples") {
    // Every step reads the whole data set, however it is partitioned.
    const auto whole = [](const char* nodes, const char* batch) {
        return train(R"({"kind": "dense"})",
                     {in_double.front(), std::string("cluster.nodes=") + nodes,
                      std::string("workload.batch=") + batch});
    };

    check_alike(whole("1", "256"), whole("4", "64"), 1e-10);
    check_alike(whole("1", "256"), whole("8", "32"), 1e-10);
}

TEST_CASE("reductions: gradients that are added up are those of one larger batch, in their time") {
    const Metrics one = train(R"({"kind": "dense"})", {"workload.batch=16"});
    const Metrics four =
        train(R"({"kind": "dense"})", {"workload.batch=4", "workload.accumulation=4"});

    check_alike(one, four, 1e-15);
    CHECK(one.train_loss == four.train_loss);
    CHECK(four.compute_s.value() == doctest::Approx(4 * one.compute_s.value()));
    CHECK(four.epochs == one.epochs);
}

TEST_CASE("reductions: scoring as many samples as there are is scoring all, fewer differ") {
    const Metrics all = train(R"({"kind": "dense"})");
    const Metrics enough = train(R"({"kind": "dense"})", {"measure.samples=256"});
    const Metrics some = train(R"({"kind": "dense"})", {"measure.samples=255"});

    CHECK(all.train_loss == enough.train_loss);
    CHECK(all.train_loss != some.train_loss);
    CHECK(all.test_loss == some.test_loss);  // 64 test samples
}

TEST_CASE("reductions: batches are drawn in passes, or with replacement if that is said") {
    const auto drawn = [](const char* sampling, const char* batch) {
        return train(R"({"kind": "dense"})", {std::string("workload.sampling=") + sampling,
                                              std::string("workload.batch=") + batch})
            .train_loss;
    };

    CHECK(drawn("passes", "8") != drawn("with-replacement", "8"));
    CHECK(drawn("passes", "8") == train(R"({"kind": "dense"})").train_loss);
}

TEST_CASE("reductions: a rate found for a smaller batch is scaled to that of all workers") {
    const auto loss = [](const char* rate, const char* schedule) {
        return train(R"({"kind": "dense"})", {std::string("optimizer.learning_rate=") + rate,
                                              std::string("optimizer.schedule=") + schedule})
            .train_loss;
    };
    const auto as_it_is = loss("0.25", "{}");

    CHECK(loss("0.25", R"({"reference_batch": 32})") == as_it_is);  // 4 workers of 8 samples
    CHECK(loss("0.125", R"({"reference_batch": 16})") == as_it_is);
    CHECK(loss("0.125", "{}") != as_it_is);
}

TEST_CASE("reductions: gradients clipped to almost nothing do not move the model") {
    for (const char* algorithm :
         {R"({"kind": "dense"})", R"({"kind": "dense-overlapped", "bucket": "1kB"})",
          R"({"kind": "dgc", "density": 0.5, "warm_up": "none"})"}) {
        CAPTURE(algorithm);
        const Metrics m = train(
            algorithm, {in_double.front(), "optimizer.clip=1e-12", "optimizer.weight_decay=0"});

        CHECK(m.train_loss.value() == doctest::Approx(m.timeline.front().train_loss).epsilon(1e-9));
        CHECK(m.train_loss != m.timeline.front().train_loss);
    }
}

TEST_CASE("reductions: linear regression ends in the minimum of its closed form") {
    const std::vector<std::string> regression{
        R"(workload.model={"kind": "linear-regression"})",
        R"(workload.data={"kind": "linear-regression", "dimension": 5, "rows": 40})",
        "workload.batch=40",
        R"(optimizer={"learning_rate": 0.2, "weight_decay": 0.01})",
        "stop.iterations=400",
        "measure={}"};

    for (const char* algorithm :
         {R"({"kind": "dense"})", R"({"kind": "decentlam", "mixing": {"kind": "complete"}})"}) {
        std::vector<std::string> settings = regression;
        settings.push_back(std::string("algorithm=") + algorithm);
        const Metrics m = study.run(settings);

        REQUIRE(m.timeline.size() == 2);
        CHECK(m.timeline.front().relative_error.value() == doctest::Approx(1));
        CHECK(m.relative_error.value() < 1e-16);
    }
}

}  // namespace
}  // namespace paceline::training_reductions_test
