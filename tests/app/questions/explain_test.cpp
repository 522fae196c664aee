#include "app/questions/explain.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/timing/step_timing.hpp"
#include "analysis/forms/closed_forms.hpp"
#include "app/json/config_error.hpp"
#include "app/json/object_reader.hpp"
#include "app/questions/job_in_front.hpp"
#include "app/run/run_point.hpp"
#include "app/study/on_threads.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::explain_test {
namespace {

using doctest::Approx;

const std::string star = R"({"kind": "star", "link": {"bandwidth": "10Gbps", "latency": "10us"}})";

// 10 ms of computing and 80 MB, with `changes` applied.
Study study_of(const std::string& changes = "{}", const std::string& fabric = star, int nodes = 8) {
    Json json = Json::parse(fmt::format(
        R"({{"cluster": {{"nodes": {}, "fabric": {}}},
             "workload": {{"gradient": "80MB", "step_time": "10ms"}},
             "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 20}}}})",
        nodes, fabric));
    json.merge_patch(Json::parse(changes));
    const TemporaryFolder folder;
    return read_study(folder.write("scenario.json", json.dump()), {});
}

Explanation explain(const Study& study, std::size_t point = 0) {
    return explain_point(study, point, {});
}

double part(const Explanation& e, Obstacle what) {
    const auto found = std::ranges::find(e.parts, what, &Part::what);
    return found == e.parts.end() ? 0 : found->seconds;
}

double sum_of_parts(const Explanation& e) {
    double sum = 0;
    for (const Part& one : e.parts) sum += one.seconds;
    return sum;
}

const WhatNext& next(const Explanation& e, const std::string& key) {
    const auto found = std::ranges::find(e.next, key, &WhatNext::key);
    REQUIRE(found != e.next.end());
    return *found;
}

double step_of(const WhatNext& what) {
    return what.run.value().step_time_s.value();
}

bool contains(std::string_view text, std::string_view what) {
    return text.find(what) != std::string_view::npos;
}

TEST_CASE("explain: start-up and staging are a part of their own, and no coding") {
    const Explanation e =
        explain(study_of(R"({"cluster": {"library": {"start_up": "3ms", "staging": "10GBps"}}})"));

    CHECK(part(e, Obstacle::library) == Approx(3e-3 + 2 * 80e6 / 10e9).epsilon(1e-9));
    CHECK(part(e, Obstacle::coding) == 0);
    CHECK(part(e, Obstacle::compute) == Approx(10e-3).epsilon(1e-9));
    CHECK(part(explain(study_of()), Obstacle::library) == 0);
}

TEST_CASE("explain: a request to stop ends it") {
    Progress progress;
    progress.stop = true;

    CHECK_THROWS_AS(explain_point(study_of(), 0, {.progress = &progress}), ExplanationStopped);
}

TEST_CASE("explain: what a bounded flow loses is an overhead of messages") {
    const Explanation e = explain(study_of(
        R"({"cluster": {"transport": {"kind": "tcp", "goodput": 1, "duplex_share": 1,
                                      "first_window": "0B", "flow_rate": "5Gbps"}}})"));
    const double volume = 2 * 7.0 / 8 * 80e6 * 8;

    CHECK(part(e, Obstacle::protocol) == Approx(volume / 5e9 - volume / 10e9).epsilon(1e-9));
    CHECK(part(e, Obstacle::serialization) == Approx(volume / 10e9).epsilon(1e-9));
}

TEST_CASE("explain: the parts of ring all-reduce on an idle star are those of its closed form") {
    const Explanation e = explain(study_of());

    const double n = 8;
    const double latency = 2 * (n - 1) * 20e-6;  // two links from node to node
    const double serialization = 2 * (n - 1) / n * 80e6 * 8 / 10e9;
    CHECK(part(e, Obstacle::latency) == Approx(latency).epsilon(1e-9));
    CHECK(part(e, Obstacle::serialization) == Approx(serialization).epsilon(1e-9));
    CHECK(part(e, Obstacle::compute) == Approx(10e-3).epsilon(1e-9));
    CHECK(part(e, Obstacle::unlike_nodes) == 0);
    CHECK(e.parts.size() == 3);
    CHECK(e.overlap->won_s == Approx(0).epsilon(1e-9));
    CHECK(e.overlap->communication_s == Approx(latency + serialization).epsilon(1e-9));
    CHECK(std::abs(e.check.rest_s) < 1e-9 * e.ladder.front().step_s);
    CHECK(e.check.model_s.value() == Approx(10e-3 + latency + serialization).epsilon(1e-9));
    CHECK(contains(e.verdict, "bandwidth-bound"));
    CHECK(contains(explanation_text(e), "equal: the relative difference is"));
}

// 8 machines of 4 devices on a bus a hundred times as fast. All cards are unlimited at once, so
// what is left belongs to the buses: at most an even share of a lane for each ring.
TEST_CASE("explain: the parts of rings through several cards are those of their closed form") {
    for (const int cards : {1, 2, 4}) {
        CAPTURE(cards);
        const Explanation e = explain(study_of(fmt::format(
            R"({{"cluster": {{"devices_per_node": 4, "nics": {},
                     "bus": {{"kind": "switched", "link": {{"bandwidth": "1000Gbps", "latency": "3us"}}}}}},
                 "workload": {{"step_time": null, "gradient_time": "10ms"}},
                 "algorithm": {{"kind": "dense", "aggregation":
                     {{"kind": "all-reduce", "plan": {{"kind": "ring", "rings": "per-card"}}}}}}}})",
            cards)));
        const double rounds = 2 * 31;
        const double drain = 80e6 * 8 / cards / 32 / 10e9;
        CHECK(part(e, Obstacle::latency) == Approx(rounds * 26e-6).epsilon(1e-6));
        CHECK(part(e, Obstacle::serialization) + part(e, Obstacle::buses) ==
              Approx(rounds * drain).epsilon(1e-6));
        CHECK(part(e, Obstacle::buses) <= rounds * drain * cards / 100 * (1 + 1e-6));
        CHECK(part(e, Obstacle::buses) >= rounds * drain / 100 * (1 - 1e-6));
        CHECK(part(e, Obstacle::coding) == 0);
        CHECK(e.check.model_s.value() == Approx(10e-3 + rounds * (26e-6 + drain)).epsilon(1e-9));
        CHECK(std::abs(e.check.rest_s) < 1e-9 * e.ladder.front().step_s);
    }
}

TEST_CASE("explain: whole periods are explained, however few steps the point takes") {
    const auto explained = [](int steps) {
        return explain(study_of(fmt::format(R"({{"stop": {{"iterations": {}}},
            "algorithm": {{"kind": "local-sgd", "period": 6}}}})",
                                            steps)));
    };
    const double n = 8;
    const double latency = 2 * (n - 1) * 20e-6 / 6;
    const double serialization = 2 * (n - 1) / n * 80e6 * 8 / 10e9 / 6;
    for (const int steps : {1, 6, 8, 13}) {
        CAPTURE(steps);
        const Explanation e = explained(steps);

        CHECK(part(e, Obstacle::latency) == Approx(latency).epsilon(1e-9));
        CHECK(part(e, Obstacle::serialization) == Approx(serialization).epsilon(1e-9));
        CHECK(*e.steps % 6 == 0);
        CHECK(e.of_steps == steps);
        CHECK(contains(explanation_text(e), "steps are explained, to cover whole periods") ==
              (steps % 6 != 0));
    }
}

TEST_CASE("explain: what the next doubling gives is what the closed forms say") {
    const Explanation e = explain(study_of());

    const double latency = 14 * 20e-6;
    const double serialization = 14.0 / 8 * 64e-3;
    CHECK(step_of(next(e, "bandwidth_doubled")) ==
          Approx(10e-3 + latency + serialization / 2).epsilon(1e-9));
    CHECK(step_of(next(e, "latency_halved")) ==
          Approx(10e-3 + latency / 2 + serialization).epsilon(1e-9));
    CHECK(step_of(next(e, "compute_halved")) ==
          Approx(5e-3 + latency + serialization).epsilon(1e-9));
    CHECK(step_of(next(e, "nodes_doubled")) ==
          Approx(10e-3 + 30 * 20e-6 + 30.0 / 16 * 64e-3).epsilon(1e-9));
    CHECK(next(e, "nodes_doubled").run->nodes == 16);
}

TEST_CASE("explain: a node that takes four times as long costs synchronous SGD three gradients") {
    const Explanation e =
        explain(study_of(R"({"cluster": {"stragglers": {"factor": 4, "nodes": [3]}}})"));

    CHECK(part(e, Obstacle::unlike_nodes) == Approx(3 * 10e-3).epsilon(1e-9));
    CHECK(part(e, Obstacle::compute) == Approx(10e-3).epsilon(1e-9));
    REQUIRE(e.check.causes.size() == 1);
    CHECK(e.check.causes[0].what == Obstacle::unlike_nodes);
    CHECK(std::abs(e.check.rest_s) < 1e-9 * e.ladder.front().step_s);
}

// A bucket's exchange starts once the bucket is complete and the previous bucket has been
// exchanged.
TEST_CASE("explain: overlap won is that of the schedule of buckets") {
    const Study study = study_of(
        R"({"workload": {"gradient": null, "step_time": "100ms", "profile": "resnet-50"},
            "algorithm": {"kind": "dense-overlapped", "bucket": "25MB"}})");
    const Explanation e = explain(study);

    const Workload& workload = study.points[0].scenario.workload;
    const LayoutPtr layout = workload.layout;
    const StepTiming timing =
        make_step_timing(workload.gradient, *layout, *workload.tensor_macs, 25'000'000 / 4);
    const IdleStar wires{Bandwidth{10'000'000'000}, from_seconds(20e-6)};
    double end = 0;
    double alone = 0;
    for (const Bucket& bucket : timing.buckets) {
        const double exchange =
            to_seconds(ring_all_reduce_time(8, 4 * Bytes{entries_of(bucket, *layout)}, wires));
        end = std::max(end, to_seconds(bucket.ready)) + exchange;
        alone += exchange;
    }
    REQUIRE(timing.buckets.size() > 2);
    CHECK(e.ladder.front().step_s == Approx(end).epsilon(1e-9));
    CHECK(e.overlap->communication_s == Approx(alone).epsilon(1e-9));
    CHECK(e.overlap->won_s == Approx(0.1 + alone - end).epsilon(1e-9));
    CHECK(e.overlap->won_s > 0.01);
}

// A ring whose every hop crosses the core: two flows share what a single flow could use.
TEST_CASE("explain: a core with half of the bandwidth costs as much again as serialization") {
    const Study study =
        study_of(R"({"cluster": {"placement": [0, 2, 1, 3]}})",
                 R"({"kind": "leaf-spine", "hosts_per_leaf": 2, "spines": 1, "oversubscription": 2,
            "link": {"bandwidth": "10Gbps"}})",
                 4);
    const Explanation e = explain(study);

    const double serialization = 2 * 3.0 / 4 * 64e-3;
    CHECK(part(e, Obstacle::serialization) == Approx(serialization).epsilon(1e-9));
    CHECK(part(e, Obstacle::core) == Approx(serialization).epsilon(1e-6));
    CHECK(contains(e.most_loaded.front().name, "spine"));
    CHECK(e.most_loaded.front().used > 0.9);
    CHECK(e.check.of_a_star);
    CHECK(e.check.causes.size() == 1);
    CHECK(std::abs(e.check.rest_s) < 1e-6 * e.ladder.front().step_s);
}

TEST_CASE("explain: a server's link is told from those of the workers") {
    const Explanation e = explain(study_of(R"({"algorithm": {"kind": "ps-sync"}})"));

    // The server receives 8 gradients and sends as many models, which hides a worker's own two.
    CHECK(part(e, Obstacle::servers) == Approx(2 * 8 * 64e-3).epsilon(1e-6));
    CHECK(part(e, Obstacle::serialization) == Approx(0).epsilon(1e-6));
    CHECK(contains(e.verdict, "bound by the servers' links"));
    CHECK(contains(e.most_loaded.front().name, "server 0"));
}

TEST_CASE("explain: links carry what hosts send, and an unshared link is as busy as computed") {
    const Explanation e = explain(study_of());

    const auto up = std::ranges::find(e.kinds, "node up", &LinkKind::kind);
    REQUIRE(up != e.kinds.end());
    CHECK(up->links == 8);
    const double sent = e.as_is.bytes_sent_per_node_per_step.value();
    CHECK(up->busiest.bytes_per_step == Approx(sent).epsilon(1e-12));
    const double serialization = 14.0 / 8 * 64e-3;
    const double step = 10e-3 + 14 * 20e-6 + serialization;
    CHECK(up->mean_busy == Approx(serialization / step).epsilon(1e-6));
    CHECK(up->mean_used == Approx(serialization / step).epsilon(1e-6));
}

TEST_CASE("explain: the step explained is that of the run") {
    const Study study =
        study_of(R"({"cluster": {"compute_jitter": {"kind": "normal", "deviation": 0.2}}})");

    CHECK(explain(study).ladder.front().step_s ==
          run_point(study.points[0].scenario, nullptr).step_time_s.value());
}

TEST_CASE("explain: one node computes and has no links to double") {
    const Explanation e = explain(study_of("{}", star, 1));

    CHECK(e.parts.size() == 1);
    CHECK(part(e, Obstacle::compute) == 10e-3);
    CHECK(e.kinds.empty());
    CHECK(next(e, "bandwidth_doubled").why_not == "a single worker sends nothing");
    CHECK(step_of(next(e, "nodes_doubled")) > 10e-3);
}

TEST_CASE("explain: nodes that cannot be doubled say why") {
    const Explanation torus = explain(
        study_of("{}", R"({"kind": "torus", "dims": [2, 4], "link": {"bandwidth": "10Gbps"}})"));
    const Explanation placed = explain(study_of(R"({"cluster": {"placement": [0, 1, 2]}})"));

    CHECK(contains(next(torus, "nodes_doubled").why_not, "product of the extents"));
    CHECK(contains(next(placed, "nodes_doubled").why_not, "placement"));
}

TEST_CASE("explain: other traffic is a part, and a cause of the difference from the closed form") {
    const Explanation e = explain(study_of(
        R"({"cluster": {"background":
             [{"kind": "constant", "from": 0, "to": 1, "rate": "5Gbps", "message": "10MB"}]}})"));

    CHECK(part(e, Obstacle::other_traffic) > 1e-3);
    CHECK(e.check.causes.at(0).what == Obstacle::other_traffic);
    CHECK(std::abs(e.check.rest_s) < 1e-9 * e.ladder.front().step_s);
}

TEST_CASE("explain: of several jobs it says whose bytes fill each link") {
    const auto with = [](const std::string& nodes) {
        return explain(study_of(fmt::format(
            R"({{"cluster": {{"placement": [0, 1, 2, 3]}}, "other_jobs": [
                 {{"label": "B", "nodes": {}, "workload": {{"gradient": "80MB", "step_time": "10ms"}},
                   "algorithm": {{"kind": "dense"}}}}]}})",
            nodes)));
    };
    const Explanation shared = with("[0, 1, 2, 3]");  // equal jobs: half of each link
    REQUIRE(!shared.most_loaded.empty());
    for (const LinkLoad& load : shared.most_loaded) {
        REQUIRE(load.by_job.size() == 2);
        CHECK(load.by_job[0].first == "main");
        CHECK(load.by_job[1].first == "B");
        CHECK(load.by_job[0].second == Approx(0.5).epsilon(0.02));
        CHECK(load.by_job[0].second + load.by_job[1].second == Approx(1).epsilon(1e-12));
    }
    CHECK(contains(explanation_text(shared), "bytes of "));
    CHECK(contains(explanation_text(shared), ": main 5"));
    const Json json = Json::parse(explanation_json(shared));
    CHECK(json.at("links").at("most_used").at(0).at("jobs").contains("B"));

    for (const LinkLoad& load : with("[4, 5, 6, 7]").most_loaded) {  // each on links of its own
        const bool of_main = load.name < "node 4";
        CHECK(load.by_job.at(of_main ? 0 : 1).second == 1);
        CHECK(load.by_job.at(of_main ? 1 : 0).second == 0);
    }
    const Explanation alone = explain(study_of());
    CHECK(alone.most_loaded.front().by_job.empty());
    CHECK_FALSE(contains(explanation_text(alone), "bytes of "));
}

TEST_CASE("explain: another job is explained as if it were the main one") {
    const auto pair = [](const std::string& main, const std::string& main_nodes,
                         const std::string& other, const std::string& other_nodes) {
        constexpr std::string_view work =
            R"("workload": {{"gradient": "{}", "step_time": "10ms"}}, "algorithm": {{"kind": "dense"}})";
        return study_of(fmt::format(
            R"({{"cluster": {{"placement": {}}}, {}, "other_jobs": [{{"label": "B", "nodes": {}, {}}}]}})",
            main_nodes, fmt::format(work, main), other_nodes, fmt::format(work, other)));
    };
    const Study study = pair("80MB", "[0, 1, 2, 3]", "20MB", "[2, 3, 4]");
    const Study turned = pair("20MB", "[2, 3, 4]", "80MB", "[0, 1, 2, 3]");
    const Point b = with_job_in_front(study, study.points.front(), "B");
    const Explanation of_b = explain({study.file, "", {}, Points({b}), study.sources});
    const Explanation expected = explain(turned);

    CHECK(b.scenario.job == "B");
    CHECK(b.scenario.other_jobs.at(0).job == "main");
    CHECK(of_b.as_is.step_time_s.value() == *expected.as_is.step_time_s);
    REQUIRE(of_b.parts.size() == expected.parts.size());
    for (std::size_t i = 0; i < of_b.parts.size(); ++i) {
        CHECK(of_b.parts[i].what == expected.parts[i].what);
        CHECK(of_b.parts[i].seconds == expected.parts[i].seconds);
    }
    CHECK(part(of_b, Obstacle::other_traffic) > 1e-3);
    CHECK(of_b.most_loaded.front().by_job.at(0).first == "B");
    const Point main = with_job_in_front(study, study.points.front(), "main");
    CHECK(main.resolved == study.points.front().resolved);
}

TEST_CASE("explain: a job that is not there, or cannot change places, is refused") {
    const auto said = [](const std::string& more, const std::string& job) -> std::string {
        Json json = Json::parse(R"({"cluster": {"placement": "even"}, "other_jobs": [{"label": "B",
            "nodes": "odd", "workload": {"gradient": "1MB", "step_time": "1ms"},
            "algorithm": {"kind": "dense"}}]})");
        json.merge_patch(Json::parse(more));
        const Study study = study_of(json.dump());
        try {
            (void)with_job_in_front(study, study.points.front(), job);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "taken";
    };

    CHECK(said("{}", "B") == "taken");
    CHECK(contains(said("{}", "C"), "--job: \"C\" is not a job of this point"));
    CHECK(contains(
        said(R"({"cluster": {"compute_jitter": {"kind": "log-normal", "sigma": 0.1}}})", "B"),
        "\"cluster.compute_jitter\" belongs to the main job's nodes"));
    CHECK(said(R"({"stop": {"iterations": null, "time": "1s"}})", "B") == "taken");
}

TEST_CASE("explain: long runs are cut to whole periods") {
    const Study study = study_of(R"({"algorithm": {"kind": "local-sgd", "period": 7},
                                     "stop": {"iterations": 1000000}})");
    const Explanation e = explain_point(study, 0, {.most_messages = 1000});

    CHECK(e.steps.value() % 7 == 0);
    CHECK(e.steps.value() < 1000);
    CHECK(part(e, Obstacle::serialization) == Approx(14.0 / 8 * 64e-3 / 7).epsilon(1e-9));
    CHECK(contains(explanation_text(e), "of 1000000 steps are explained"));
}

TEST_CASE("explain: a point that stops at a time is explained for that time") {
    const Study study = study_of(
        R"({"algorithm": {"kind": "ad-psgd"}, "stop": {"iterations": null, "time": "2h"},
            "cluster": {"speeds": {"kind": "list", "values": [1, 1, 1, 0.5, 1, 1, 2, 1]}}})");
    const Explanation e = explain_point(study, 0, {.most_messages = 3000});

    CHECK(e.time_limit_s.value() < 7200);
    CHECK(e.as_is.outcome == "time-limit");
    CHECK(sum_of_parts(e) == Approx(e.as_is.step_time_s.value()).epsilon(1e-12));
}

TEST_CASE("explain: a point that fails is told, and not explained") {
    const Study study = study_of(
        R"({"cluster": {"failures": {"schedule": [{"node": 1, "at": "0s"}], "on_death": "stall"}}})");
    const Explanation e = explain(study);

    CHECK(e.as_is.failed());
    CHECK(e.parts.empty());
    CHECK(contains(explanation_text(e), "there is no step to explain"));
    CHECK(Json::parse(explanation_json(e)).at("outcome") == e.as_is.outcome);
}

// Without latency and limits of links, all messages of a step fall into one instant: 64 * 12 of
// them, and 20 times as many where computing takes no time either. (Those of a ring are no events.)
const std::string doubling_of_64 =
    R"({"cluster": {"nodes": 64}, "algorithm": {"all_reduce": "halving-doubling"}})";

TEST_CASE("explain: steps of more messages than the spin limit's base are explained") {
    const Explanation e = explain_point(study_of(doubling_of_64), 0, {.spin = {.base = 700}});

    const double n = 64;
    CHECK(part(e, Obstacle::latency) == Approx(2 * 6 * 20e-6).epsilon(1e-9));
    CHECK(part(e, Obstacle::serialization) == Approx(2 * (n - 1) / n * 64e-3).epsilon(1e-9));
    CHECK(part(e, Obstacle::compute) == Approx(10e-3).epsilon(1e-9));
    CHECK(e.parts.size() == 3);
    CHECK(e.overlap.value().won_s == Approx(0).epsilon(1e-9));
    CHECK(e.notes.empty());
}

// A run that stops at a time, and whose nodes are unlike, is limited in time. Its counterfactuals
// are bounded in steps.
TEST_CASE("explain: a point without a number of steps is explained beyond the base, too") {
    const Explanation e = explain_point(study_of(R"({"cluster": {"nodes": 64, "compute_jitter":
                                      {"kind": "exponential", "excess": 0.3}},
                                   "algorithm": {"all_reduce": "halving-doubling"},
                                   "stop": {"iterations": null, "time": "2s"}})"),
                                        0, {.spin = {.base = 700}});

    CHECK(part(e, Obstacle::not_attributed) == 0);
    CHECK(part(e, Obstacle::serialization) > 0.1);
    CHECK(e.overlap.has_value());
}

TEST_CASE("explain: what a failed run would have told is booked under no cost") {
    const Study study = study_of(doubling_of_64);
    const Explanation e = explain_point(study, 0, {.spin = {.base = 700, .per_message = 0}});

    const double n = 64;
    CHECK(part(e, Obstacle::latency) == Approx(2 * 6 * 20e-6).epsilon(1e-9));
    CHECK(part(e, Obstacle::compute) == Approx(10e-3).epsilon(1e-9));
    CHECK(part(e, Obstacle::not_attributed) == Approx(2 * (n - 1) / n * 64e-3).epsilon(1e-9));
    CHECK(part(e, Obstacle::serialization) == 0);
    CHECK(part(e, Obstacle::idle) == 0);
    CHECK(sum_of_parts(e) == Approx(e.as_is.step_time_s.value()).epsilon(1e-12));
    CHECK_FALSE(e.overlap.has_value());
    REQUIRE(e.notes.size() == 2);
    CHECK(contains(e.notes[0], "the run without serialization ends as \"spinning\": node "));
    CHECK(contains(e.notes[0], "is included in \"not attributed\""));
    CHECK(contains(e.notes[1], "the run without gradients and updates ends as \"spinning\""));
    CHECK(contains(e.verdict, "not attributed, because runs failed"));

    const std::string text = explanation_text(e);
    CHECK(contains(text, e.notes[0]));
    CHECK(contains(text, "  not attributed"));
    const Json json = Json::parse(explanation_json(e));
    CHECK(json.at("notes").at(0) == e.notes[0]);
    CHECK(json.at("parts_s").at("not_attributed") == part(e, Obstacle::not_attributed));
    CHECK_FALSE(json.at("parts_s").contains("idle"));
    CHECK(json.at("overlap").is_null());
}

namespace {
void on_three_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
    on_threads(3, count, body);
}
}  // namespace

TEST_CASE("explain: the same point gives the same bytes, whatever the number of threads") {
    const Study study = study_of(
        R"({"algorithm": {"kind": "ad-psgd"},
            "cluster": {"compute_jitter": {"kind": "exponential", "excess": 0.3}}})");
    const Explanation one = explain_point(study, 0, {});
    const Explanation three = explain_point(study, 0, {.for_each = on_three_threads});

    CHECK(explanation_text(one) == explanation_text(three));
    CHECK(explanation_json(one) == explanation_json(three));
}

TEST_CASE("explain: if there are several points, the user has to choose one") {
    const Study study = study_of(R"({"sweep": {"cluster.nodes": [2, 4, 8]}})");

    CHECK(point_to_explain(study, 2) == 2);
    CHECK(point_to_explain(study_of(), std::nullopt) == 0);
    try {
        (void)point_to_explain(study, std::nullopt);
        FAIL("one of three points was taken");
    } catch (const ConfigError& error) {
        CHECK(error.problem() ==
              "makes 3 points, and only one can be explained; choose it with --point 0 to 2, in "
              "the order of results.csv, or --set a value of each axis: cluster.nodes (3)");
    }
    try {
        (void)point_to_explain(study, 3);
        FAIL("there is no point 3");
    } catch (const ConfigError& error) {
        CHECK(error.problem() == "3 is not a point of this study; it has 3, numbered from 0");
    }
}

TEST_CASE("explain: JSON has what the page has") {
    const Explanation e = explain(study_of());
    const Json json = Json::parse(explanation_json(e));

    double sum = 0;
    for (const auto& [key, seconds] : json.at("parts_s").items()) sum += seconds.get<double>();
    CHECK(sum == Approx(json.at("step_time_s").get<double>()).epsilon(1e-12));
    CHECK(json.at("verdict") == e.verdict);
    CHECK(json.at("links").at("kinds").size() == e.kinds.size());
    CHECK(json.at("next").at("bandwidth_doubled").at("step_time_s").get<double>() > 0);
    CHECK(json.at("ladder").front().at("without").is_null());
    CHECK(json.at("ladder").size() == e.ladder.size());
}

void check_parts(const Explanation& e) {
    if (e.as_is.failed() || e.as_is.iterations == 0) return;
    CHECK(sum_of_parts(e) == Approx(e.as_is.step_time_s.value()).epsilon(1e-12));
    CHECK(e.ladder.front().step_s == e.as_is.step_time_s.value());
    for (const LinkLoad& load : e.most_loaded) {
        CHECK(load.busy <= 1 + 1e-9);
        CHECK(load.used <= 1 + 1e-9);
    }
    CHECK(Json::accept(explanation_json(e)));
    CHECK_FALSE(explanation_text(e).empty());
}

TEST_CASE("explain: parts of points of the shipped scenarios sum to their step times") {
    const std::vector<std::string> names{
        "dgc-speedup",       "bandwidth-what-if",        "shared-network", "stragglers",
        "failures",          "parameter-servers",        "ring-allreduce", "collectives",
        "overlap-local-sgd", "decentralized-throughput", "swarm-step-time"};
    for (unsigned seed = 0; seed < names.size(); ++seed) {
        CAPTURE(names[seed]);
        const Study study =
            read_study(fmt::format("{}/scenarios/{}.json", PACELINE_SOURCE_DIR, names[seed]), {});
        std::mt19937 random(seed);
        const std::size_t point = random() % study.points.size();
        CAPTURE(point);
        check_parts(
            explain_point(study, point, {.most_messages = 500, .for_each = on_three_threads}));
    }
}

TEST_CASE("explain: every algorithm can be explained") {
    const Study study =
        read_study(PACELINE_SOURCE_DIR "/scenarios/all-algorithms.json",
                   {"cluster.nodes=4", "cluster.fabric.link={\"preset\": \"1GbE-tcp\"}"});
    for (std::size_t point = 0; point < study.points.size(); ++point) {
        CAPTURE(study.points[point].scenario.algorithm.label);
        const Explanation e =
            explain_point(study, point, {.most_messages = 200, .for_each = on_three_threads});
        CHECK_FALSE(e.as_is.failed());
        CHECK(e.on_the_clock);
        check_parts(e);
    }
}

TEST_CASE("explain: a step has its interval where one is asked for, and improvements have none") {
    const Study study = study_of(R"({"measure": {"interval": true}})");
    const Explanation e = explain(study);
    REQUIRE(e.as_is.interval);
    const Metrics ran = run_point(study.points[0].scenario, nullptr);
    CHECK(e.as_is.interval->low == Approx(ran.interval->low));
    CHECK(e.as_is.interval->high == Approx(ran.interval->high));
    for (const WhatNext& one : e.next) CHECK_FALSE(one.run->interval);
    const Json figures = Json::parse(explanation_json(e))["figures"];
    CHECK(figures["step_time_s_low"] == *e.as_is.step_time_s * ran.interval->low);
    CHECK(explanation_text(e).find("step, 90 % prediction interval") != std::string::npos);
    CHECK(explanation_text(explain(study_of())).find("90 %") == std::string::npos);
}

}  // namespace
}  // namespace paceline::explain_test
