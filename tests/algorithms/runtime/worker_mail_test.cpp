// Letters, boxes and services, which methods without rounds use.
#include "algorithms/mail/worker_mail.hpp"

#include <chrono>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/concurrency.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::worker_mail_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};  // 10 us from host to host, 8 ns a byte

struct Arrival {
    Duration at;
    int from;
    double number;
};

Duration now_of(const Worker& self) {
    return self.simulation().now().time_since_epoch();
}

Task<> take_letters(Worker& self, int box, int count, std::vector<Arrival>& arrivals) {
    for (int i = 0; i < count; ++i) {
        const Letter letter = co_await self.mail().next_letter(box);
        arrivals.push_back({now_of(self), letter.from, letter.number});
    }
}

Task<> post_one(Worker& self, int to, int box, double number, Bytes weight) {
    co_await self.mail().post(to, box, {.number = number}, weight);
}

Task<> post_after(Worker& self, Duration wait, int to, double number, Bytes weight) {
    co_await self.simulation().sleep(wait);
    co_await self.mail().post(to, 0, {.number = number}, weight);
}

Task<> post_many(Worker& self, int to, std::vector<Bytes> weights) {
    for (std::size_t i = 0; i < weights.size(); ++i)
        co_await self.mail().post(to, 0, {.number = static_cast<double>(i)}, weights[i]);
}

Task<> do_nothing() {
    co_return;
}

struct Run : TrainingRun {
    explicit Run(int nodes, int servers = 0) : TrainingRun(nodes, link, job(nodes, servers)) {}

    static Job job(int nodes, int servers) {
        Job job = timing_job(small_layout(), 1);
        job.workers = nodes - servers;
        job.servers = servers;
        return job;
    }
};

TEST_CASE("letters: a letter arrives after exactly its size over the bandwidth plus the latency") {
    for (const std::int64_t size : {0, 1, 104, 125'000, 12'345'677}) {
        CAPTURE(size);
        Run run(2);
        std::vector<Arrival> arrivals;
        run.spawn(0, post_one(run.cluster.worker(0), 1, 3, 0.5, Bytes{size}));
        run.spawn(1, take_letters(run.cluster.worker(1), 3, 1, arrivals));

        run.simulation.run();

        REQUIRE(run.processes.finished());
        CHECK(arrivals[0].at == 10us + Bytes{size} / 1_Gbps);
        CHECK(arrivals[0].from == 0);
        CHECK(arrivals[0].number == 0.5);
        CHECK(run.network.traffic(0).sent == Bytes{size});
    }
}

Task<> note_when_posted(Worker& self, Duration& done) {
    co_await self.mail().post(1, 0, {}, 125'000_B);
    done = now_of(self);
}

TEST_CASE("letters: posting is done when the letter has drained, whether or not anyone waits") {
    Run run(2);
    Duration done{};
    run.spawn(0, note_when_posted(run.cluster.worker(0), done));

    run.simulation.run();

    CHECK(done == 1ms);
}

TEST_CASE("letters: those of one sender arrive in the order of posting, whatever they weigh") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        std::vector<Bytes> weights;
        for (int i = 0; i < 20; ++i)
            weights.push_back(Bytes{static_cast<std::int64_t>(rng() % 5 * 10'000)});
        Run run(2);
        std::vector<Arrival> arrivals;
        run.spawn(0, post_many(run.cluster.worker(0), 1, weights));
        run.spawn(1, take_letters(run.cluster.worker(1), 0, 20, arrivals));

        run.simulation.run();

        REQUIRE(run.processes.finished());
        Bytes sent;
        for (std::size_t i = 0; i < 20; ++i) {
            sent += weights[i];
            CHECK(arrivals[i].number == static_cast<double>(i));
            CHECK(arrivals[i].at == 10us + sent / 1_Gbps);
        }
    }
}

TEST_CASE("letters: a box gives out letters of several senders in the order of delivery") {
    Run run(3);
    std::vector<Arrival> arrivals;
    run.spawn(0, post_one(run.cluster.worker(0), 2, 0, 1, 125'000_B));  // shares the link, 5 us
    run.spawn(1, post_after(run.cluster.worker(1), 100us, 2, 2, 1'250_B));
    run.spawn(2, take_letters(run.cluster.worker(2), 0, 2, arrivals));

    run.simulation.run();

    REQUIRE(run.processes.finished());
    CHECK(arrivals[0].from == 1);  // 1250 bytes at half the rate: 20 us
    CHECK(arrivals[0].at == 130us);
    CHECK(arrivals[1].from == 0);
    CHECK(arrivals[1].at == 1010us + 10us);
}

TEST_CASE("letters: those that are posted together share the receiver's link and arrive together") {
    for (const int n : {1, 2, 3, 7, 16}) {
        CAPTURE(n);
        Run run(n + 1);
        std::vector<Arrival> arrivals;
        for (int rank = 0; rank < n; ++rank)
            run.spawn(rank, post_one(run.cluster.worker(rank), n, 0, rank, 12'500_B));
        run.spawn(n, take_letters(run.cluster.worker(n), 0, n, arrivals));

        run.simulation.run();

        REQUIRE(run.processes.finished());
        for (int rank = 0; rank < n; ++rank) {
            const Arrival& arrival = arrivals[static_cast<std::size_t>(rank)];
            CHECK(arrival.from == rank);  // of one instant, in the order of posting
            CHECK(to_seconds(arrival.at) == doctest::Approx(10e-6 + n * 100e-6).epsilon(1e-9));
        }
    }
}

TEST_CASE("letters: a letter in one box is not found in another") {
    Run run(2);
    std::vector<Arrival> in_own;
    std::vector<Arrival> in_others;
    run.spawn(0, post_one(run.cluster.worker(0), 1, 7, 1, 4_B));
    run.spawn(0, take_letters(run.cluster.worker(0), 7, 1, in_others));
    run.spawn(1, take_letters(run.cluster.worker(1), 8, 1, in_others));
    run.spawn(1, take_letters(run.cluster.worker(1), 7, 1, in_own));

    run.simulation.run();

    CHECK(in_own.size() == 1);
    CHECK(in_others.empty());
    CHECK_FALSE(run.processes.finished());
}

Task<> post_and_change(Worker& self) {
    Vector& x = self.model();
    co_await self.mail().post(1, 0, {.vector = x}, self.weigh(x));
    x.writable().setConstant(-1);
}

Task<> take_vector(Worker& self, Eigen::VectorXd& values) {
    const Letter letter = co_await self.mail().next_letter(0);
    values = letter.vector->values();
}

TEST_CASE("letters: a vector in one is a snapshot of when it was posted") {
    TrainingRun run(2, link, training_job(small_layout(), 1));
    Eigen::VectorXd values;
    run.spawn(0, post_and_change(run.cluster.worker(0)));
    run.spawn(1, take_vector(run.cluster.worker(1), values));

    run.simulation.run();

    CHECK(values == Eigen::VectorXd::Ones(26));
    CHECK(run.elapsed() == 10us + 104_B / 1_Gbps);
}

// Answers every letter with its number doubled.
Task<> double_numbers(Worker& self) {
    while (true) {
        const Letter letter = co_await self.mail().next_letter(0);
        co_await self.mail().post(letter.from, 1, {.number = 2 * letter.number}, 4_B);
    }
}

Task<> ask(Worker& self, Duration wait, int whom, double number, std::vector<Arrival>& answers) {
    co_await self.simulation().sleep(wait);
    co_await self.mail().post(whom, 0, {.number = number}, 4_B);
    const Letter answer = co_await self.mail().next_letter(1);
    answers.push_back({now_of(self), answer.from, answer.number});
}

TEST_CASE("services: a service that still waits at the end is not a deadlock") {
    Run run(2);
    std::vector<Arrival> answers;
    run.cluster.serve(1, "service", double_numbers(run.cluster.worker(1)));
    run.spawn(0, ask(run.cluster.worker(0), 0us, 1, 3, answers));

    CHECK(run.simulation.run() == RunEnd::idle);

    CHECK(run.processes.finished());
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].number == 6);
    CHECK(answers[0].at == 2 * (10us + 32ns));
}

TEST_CASE("services: a worker's service continues after the worker's algorithm has ended") {
    Run run(3);
    std::vector<Arrival> answers;
    run.cluster.worker(2).serve(double_numbers(run.cluster.worker(2)));
    run.spawn(2, do_nothing());
    run.spawn(0, ask(run.cluster.worker(0), 5ms, 2, 1, answers));
    run.spawn(1, ask(run.cluster.worker(1), 9ms, 2, 2, answers));

    run.simulation.run();

    REQUIRE(run.processes.finished());
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].number == 2);
    CHECK(answers[0].at == 5ms + 2 * (10us + 32ns));
    CHECK(answers[1].number == 4);
    CHECK(answers[1].from == 2);
}

TEST_CASE("services: a server has a rank, a model and boxes, but is not a worker") {
    Run run(4, 2);
    std::vector<Arrival> answers;
    run.cluster.serve(3, "server", double_numbers(run.cluster.server(1)));
    run.spawn(0, ask(run.cluster.worker(0), 0us, 3, 21, answers));
    run.spawn(1, do_nothing());

    run.simulation.run();

    REQUIRE(run.processes.finished());
    CHECK(run.cluster.workers() == 2);
    CHECK(run.cluster.worker(0).everybody()->members == std::vector<int>{0, 1});
    CHECK(run.cluster.server(1).rank() == 3);
    CHECK(run.cluster.server(1).model().entries() == 26);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].from == 3);
    CHECK(answers[0].number == 42);
}

TEST_CASE("services: servers need hosts of their own") {
    CHECK_THROWS_AS(TrainingRun(3, link, Run::job(4, 1)), LogicError);
}

Task<> take_all(Worker& self) {
    while (true) {
        const Letter letter = co_await self.mail().next_letter(0);
        CHECK(letter.from != self.rank());
    }
}

Task<> let_others_go_on(Simulation& simulation) {
    co_await simulation.sleep(0us);
}

// Each worker posts to random others at random times and takes out what it has received.
Task<> gossip(Worker& self, std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto n = static_cast<std::uint64_t>(self.workers());
    for (int i = 0; i < 30; ++i) {
        co_await self.compute(Duration{static_cast<std::int64_t>(rng() % 50'000'000)});
        const auto offset = static_cast<int>(1 + rng() % (n - 1));
        const int to = (self.rank() + offset) % self.workers();
        const auto size = static_cast<std::int64_t>(rng() % 3 * 5'000);
        if (rng() % 2 == 0) {
            co_await self.mail().post(to, 0, {.number = static_cast<double>(i)}, Bytes{size});
        } else {
            const Pending<> under_way = self.start(self.mail().post(to, 0, {}, Bytes{size}));
            co_await self.compute(Duration{static_cast<std::int64_t>(rng() % 40'000'000)});
        }
        co_await first_of(take_all(self), let_others_go_on(self.simulation()));
    }
}

struct Gossip {
    std::mt19937_64 rng;
    int n;
    Run run;

    explicit Gossip(std::uint64_t seed) : rng(seed), n(static_cast<int>(2 + rng() % 5)), run(n) {
        for (int rank = 0; rank < n; ++rank) {
            run.cluster.worker(rank).serve(double_numbers(run.cluster.worker(rank)));
            run.spawn(rank, gossip(run.cluster.worker(rank), rng()));
        }
    }
};

TEST_CASE("letters, property: a run can be destroyed or dropped with letters under way") {
    int unfinished = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Gossip at(seed);
        const auto when = static_cast<std::int64_t>(at.rng() % 1'500'000'000);
        at.run.simulation.run(Time{Duration{when}});
        unfinished += at.run.processes.finished() ? 0 : 1;
        if (seed % 2 == 0) continue;  // destroyed without dropping processes

        at.run.processes.drop();
        const RunEnd end = at.run.simulation.run();

        REQUIRE(end == RunEnd::idle);
        REQUIRE(at.run.network.flows_in_flight() == 0);
    }
    CHECK(unfinished > 100);
}

TEST_CASE("letters, property: two runs are the same, and no letter is lost") {
    for (unsigned seed = 0; seed < 30; ++seed) {
        CAPTURE(seed);
        Gossip one(seed);
        Gossip other(seed);

        one.run.simulation.run();
        other.run.simulation.run();

        REQUIRE(one.run.processes.finished());
        CHECK(one.run.elapsed() == other.run.elapsed());
        CHECK(one.run.simulation.events_fired() == other.run.simulation.events_fired());
        Bytes received;
        for (int rank = 0; rank < one.n; ++rank) received += one.run.network.traffic(rank).received;
        CHECK(received == one.run.sent_by_all());
    }
}

}  // namespace
}  // namespace paceline::worker_mail_test
