// The ranks of a job, run as threads of this test.
#include "app/study/ranks/leader.hpp"

#include <algorithm>
#include <functional>
#include <stop_token>
#include <thread>

#include <doctest/doctest.h>

#include "app/host/output.hpp"
#include "app/json/config_error.hpp"
#include "app/run/table.hpp"
#include "app/study/ranks/follower.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/studies/run_points.hpp"
#include "tests/app/studies/training_study.hpp"
#include "tests/app/study/ranks/local_communicator.hpp"

namespace paceline::leader_test {
namespace {

constexpr PoolSize one_loop{1, 1};

Study swept(const TrainingStudy& files, const std::string& sweep,
            const std::vector<std::string>& settings = {}) {
    std::string json(small_training);
    json.insert(json.rfind('}'), ", \"sweep\": " + sweep);
    return read_study(files.folder.write("swept.json", json), settings);
}

// Six points that train. Those with the same learning rate share a baseline, which they request.
Study study_with_baselines(const TrainingStudy& files) {
    return swept(files, R"({
        "optimizer.learning_rate": [0.1, 0.05],
        "algorithm": [{"label": "dense", "kind": "dense"},
                      {"label": "dgc", "kind": "dgc", "density": 0.1},
                      {"label": "lam", "kind": "decentlam", "mixing": {"kind": "ring"}}]})",
                 {"measure.target_loss=2.7", "measure.baseline=true"});
}

// The other ranks, one thread each. Ranks in `stops` get that stop; the others get none.
class Others {
  public:
    Others(PostOffice& office, const Study& study, const PoolSize& size,
           const std::stop_token& stop = {}) {
        codes_.resize(static_cast<std::size_t>(office.ranks() - 1), -1);
        for (int rank = 1; rank < office.ranks(); ++rank)
            threads_.emplace_back([this, rank, size, stop, &office, &study] {
                LocalCommunicator communicator(office, rank);
                codes_[static_cast<std::size_t>(rank - 1)] =
                    follow(communicator, study, size, stop);
            });
    }
    // Call after rank 0 has ended them.
    std::vector<int> exit_codes() {
        threads_.clear();
        return codes_;
    }

  private:
    std::vector<int> codes_;
    std::vector<std::jthread> threads_;
};

Hello signature(const Study& study) {
    Hello hello;
    sign(hello, StudyRuns(study));
    return hello;
}

StudyOptions on_ranks(Leader& leader) {
    StudyOptions options;
    options.pool = one_loop;
    options.loops_elsewhere = leader.loops_elsewhere();
    options.run_all = [&leader](auto&... all) { leader.run(all...); };
    return options;
}

void no_interruption() {}

// Runs the study on so many ranks, with the program's own code for rank 0.
StudyOutcome run_on(int ranks, const Study& study, const PoolSize& size_of_others,
                    const std::filesystem::path& keep_in = {}) {
    PostOffice office(ranks);
    Others others(office, study, size_of_others);
    LocalCommunicator communicator(office, 0);
    Leader leader(communicator, no_interruption);
    leader.gather(signature(study));
    StudyOptions options = on_ranks(leader);
    if (!keep_in.empty()) options.keep_in = keep_in;
    StudyOutcome outcome = run_study(study, options);
    CHECK(leader.dismiss(0));
    for (const int code : others.exit_codes()) CHECK(code == 0);
    return outcome;
}

TEST_CASE("ranks: a study with baselines gives the same bytes on any number of ranks") {
    const TrainingStudy files;
    const Study study = study_with_baselines(files);
    const std::vector<PointResult> alone = run_points(study, 1);
    for (const PointResult& result : alone) REQUIRE(result.metrics.speedup_to_target.has_value());

    for (const int ranks : {1, 2, 3, 5}) {
        CAPTURE(ranks);
        const StudyOutcome outcome = run_on(ranks, study, {2, 1});

        CHECK(outcome.complete);
        CHECK(results_csv({study, outcome.results}) == results_csv({study, alone}));
        CHECK(timeline_csv({study, outcome.results}) == timeline_csv({study, alone}));
        CHECK(speedup_table({study, outcome.results}) == speedup_table({study, alone}));
    }
}

TEST_CASE("ranks: results of all ranks are kept, and one process goes on with them") {
    const TrainingStudy files;
    const TemporaryFolder folder;
    const Study study = study_with_baselines(files);

    (void)run_on(3, study, one_loop, folder.path());
    StudyOptions again;
    again.keep_in = folder.path();
    again.resume = true;
    const StudyOutcome outcome = run_study(study, again);

    CHECK(outcome.kept == study.points.size());
}

TEST_CASE("ranks: a point that fails is a result, on whichever rank it ran") {
    const TrainingStudy files;
    const Study study =
        swept(files, R"({"seed": [1, 2, 3, 4, 5, 6]})", {"cluster.fabric.link.latency=100d"});

    const StudyOutcome outcome = run_on(3, study, one_loop);

    CHECK(outcome.complete);
    for (const PointResult& result : outcome.results)
        CHECK(result.metrics.outcome == "out-of-range");
}

TEST_CASE("ranks: a rank that cannot begin is named with its reason, and all end with the code") {
    const TrainingStudy files;
    const Study study = files.read();
    PostOffice office(2);
    int code = -1;
    std::jthread other([&] {
        LocalCommunicator communicator(office, 1);
        code = decline(communicator, "data.csv: cannot be read: No such file or directory");
    });
    LocalCommunicator communicator(office, 0);
    Leader leader(communicator, no_interruption);

    CHECK_THROWS_WITH_AS(leader.gather(signature(study)),
                         "rank 1 on host1: data.csv: cannot be read: No such file or directory",
                         ConfigError);
    CHECK(leader.dismiss(2));
    other.join();
    CHECK(code == 2);
}

TEST_CASE("ranks: a rank with another study or another build is refused") {
    const TrainingStudy files;
    const Study study = files.read();
    const Study changed = files.read({"optimizer.learning_rate=0.2"});
    Hello other_build = signature(study);
    other_build.program = "0.0.0";
    const std::string wrong_study =
        "rank 1 on host1: reads another scenario, or other files named in it, than rank 0; make "
        "them identical on all machines";
    const std::string wrong_build =
        "rank 1 on host1: runs another build of paceline than rank 0; start the same file on all "
        "machines";

    for (const auto& [own, message] :
         {std::pair(signature(changed), wrong_study), std::pair(other_build, wrong_build)}) {
        PostOffice office(2);
        Others others(office, study, one_loop);
        LocalCommunicator communicator(office, 0);
        Leader leader(communicator, no_interruption);

        CHECK_THROWS_WITH_AS(leader.gather(own), message.c_str(), ConfigError);
        CHECK(leader.dismiss(2));
        CHECK(others.exit_codes() == std::vector<int>{2});
    }
}

// Points that never end by themselves.
Study endless_study(const TrainingStudy& files) {
    return swept(files, R"({"seed": [1, 2, 3, 4]})",
                 {"stop.iterations=1000000000000", "measure.every=1000000 iterations"});
}

TEST_CASE("ranks: a signal at any rank stops the study of all, on each with runs under way") {
    const TrainingStudy files;
    const Study study = endless_study(files);
    PostOffice office(3);
    std::stop_source signal_elsewhere;
    std::stop_source stop;
    Others others(office, study, {2, 1}, signal_elsewhere.get_token());
    LocalCommunicator communicator(office, 0);
    Leader leader(communicator, [&] { stop.request_stop(); });
    leader.gather(signature(study));
    StudyOptions options = on_ranks(leader);
    options.stop = stop.get_token();
    const std::jthread somebody([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        signal_elsewhere.request_stop();
    });

    const StudyOutcome outcome = run_study(study, options);

    CHECK(!outcome.complete);
    for (const PointResult& result : outcome.results) CHECK(result.metrics.outcome.empty());
    CHECK(leader.dismiss(143));
    CHECK(others.exit_codes() == std::vector<int>{143, 143});
}

TEST_CASE("ranks: a stop at rank 0 ends the runs of the others") {
    const TrainingStudy files;
    const Study study = endless_study(files);
    PostOffice office(2);
    std::stop_source stop;
    Others others(office, study, one_loop);
    LocalCommunicator communicator(office, 0);
    Leader leader(communicator, no_interruption);
    leader.gather(signature(study));
    StudyOptions options = on_ranks(leader);
    options.stop = stop.get_token();
    const std::jthread somebody([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        stop.request_stop();
    });

    CHECK(!run_study(study, options).complete);
    CHECK(leader.dismiss(130));
    CHECK(others.exit_codes() == std::vector<int>{130});
}

TEST_CASE("ranks: a result that cannot be kept ends the study on all ranks") {
    const TrainingStudy files;
    const Study study = swept(files, R"({"seed": [1, 2, 3, 4, 5, 6, 7, 8]})");
    const StudyRuns runs(study);
    for (const std::size_t kept_well : {0U, 1U, 3U}) {
        CAPTURE(kept_well);
        PostOffice office(3);
        Others others(office, study, one_loop);
        LocalCommunicator communicator(office, 0);
        Leader leader(communicator, no_interruption);
        leader.gather(signature(study));
        StudyProgress progress(runs, 1, Telling::nothing);
        std::atomic<std::size_t> next = 0;
        std::atomic<std::size_t> kept = 0;
        const RunExchange full_disk{[&]() -> std::optional<std::size_t> {
                                        const std::size_t run = next++;
                                        return run < 8 ? std::optional(run) : std::nullopt;
                                    },
                                    [&](std::size_t, const PointResult&) {
                                        if (kept++ >= kept_well) throw OutputError("disk is full");
                                    }};

        CHECK_THROWS_WITH_AS(leader.run(runs, one_loop, full_disk, progress, {}), "disk is full",
                             OutputError);
        CHECK(leader.dismiss(1));
        CHECK(others.exit_codes() == std::vector<int>{1, 1});
    }
}

TEST_CASE("ranks: a rank that has a fault or sends what is not whole ends the study") {
    const TrainingStudy files;
    const Study study = files.read();
    const StudyRuns runs(study);
    const RunExchange nothing_to_do{[]() -> std::optional<std::size_t> { return std::nullopt; },
                                    [](std::size_t, const PointResult&) {}};
    for (const auto& [message, error] :
         {std::pair(RankMessage{1, MessageKind::fault, 0, "no more threads"},
                    "rank 1 on host1: no more threads"),
          std::pair(RankMessage{1, MessageKind::result, 0, "paceline-point 2"},
                    "rank 1 on host1: the result of run 0 is incomplete")}) {
        PostOffice office(2);
        LocalCommunicator communicator(office, 0);
        Leader leader(communicator, no_interruption);
        Hello hello = signature(study);
        hello.host = "host1";
        office.deliver(0, {1, MessageKind::hello, 0, hello_text(hello)});
        leader.gather(signature(study));
        StudyProgress progress(runs, 1, Telling::nothing);
        office.deliver(0, message);
        std::atomic<bool> go_on = true;
        const RunExchange waits{[&]() -> std::optional<std::size_t> {
                                    while (go_on) std::this_thread::yield();
                                    return std::nullopt;
                                },
                                nothing_to_do.finished};
        const std::jthread ends_the_wait([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            go_on = false;
        });

        CHECK_THROWS_WITH(leader.run(runs, one_loop, waits, progress, {}), error);
    }
}

TEST_CASE("ranks: those that are gone are not waited for without end") {
    PostOffice office(2);
    LocalCommunicator communicator(office, 0);
    Leader leader(communicator, no_interruption);

    CHECK(!leader.dismiss(0, std::chrono::milliseconds(5)));
}

TEST_CASE("ranks: a hello reads back as it was, whatever its text") {
    const Hello hello{"a \"host\"", 7, "tab\tand\nline", "0.1.0 abc", "def"};

    const Hello back = read_hello(hello_text(hello));

    CHECK(back.host == hello.host);
    CHECK(back.loops == hello.loops);
    CHECK(back.error == hello.error);
    CHECK(back.program == hello.program);
    CHECK(back.study == hello.study);
}

}  // namespace
}  // namespace paceline::leader_test
