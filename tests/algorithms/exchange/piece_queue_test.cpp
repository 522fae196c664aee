#include "algorithms/exchange/piece_queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/runtime/worker.hpp"
#include "sim/engine/check.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::piece_queue_test {
namespace {

using namespace std::chrono_literals;

const Link link{Bandwidth{1'000'000'000}, 5us};

struct Taken {
    std::size_t piece;
    Duration at;
    Duration done;
};

// One worker's part in a step.
struct Part {
    std::vector<Duration> put_after;         // by piece, from the beginning of its step
    std::vector<Duration> put_at{};          // by piece
    std::vector<std::deque<Taken>> taken{};  // by stream
};

struct Shape {
    Order order;
    int streams;
    std::size_t pieces;
};

Duration now_of(const Worker& self) {
    return self.simulation().now().time_since_epoch();
}

Task<> put_later(Worker& self, PieceQueue& queue, Part& part, std::size_t piece) {
    co_await self.simulation().sleep(part.put_after[piece]);
    part.put_at[piece] = now_of(self);
    queue.put(piece);
}

// A collective of all workers for each piece, so workers with different orders would deadlock or
// mix up pieces.
Task<> carry(Worker& self, PieceQueue& queue, int stream, std::size_t count, Part& part) {
    const GroupPtr group = self.group(self.everybody()->members, stream);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t piece = co_await queue.take();
        const Duration at = now_of(self);
        const auto number = static_cast<double>(piece);
        const Vector mine(self.model().layout(),
                          Eigen::VectorXd::Constant(self.model().entries(), number));
        const Vector mean = co_await self.all_reduce(mine, AllReduce::ring, group);
        CHECK(mean.values()(0) == number);
        part.taken[static_cast<std::size_t>(stream)].push_back({piece, at, now_of(self)});
    }
}

Task<> exchange_steps(Worker& self, Shape shape, std::vector<Part>& steps) {
    for (Part& part : steps) {
        part.put_at.resize(shape.pieces);
        part.taken.resize(static_cast<std::size_t>(shape.streams));
        std::deque<PieceQueue> queues;
        for (int s = 0; s < shape.streams; ++s) queues.emplace_back(self, shape.order, s);
        std::vector<Pending<>> pending;
        std::vector<std::size_t> counts(queues.size());
        for (std::size_t piece = 0; piece < shape.pieces; ++piece) {
            const std::size_t stream = piece % queues.size();
            ++counts[stream];
            pending.push_back(self.start(put_later(self, queues[stream], part, piece)));
        }
        for (std::size_t s = 0; s < queues.size(); ++s)
            pending.push_back(
                self.start(carry(self, queues[s], static_cast<int>(s), counts[s], part)));
        for (Pending<>& one : pending) co_await std::move(one);
    }
}

std::vector<std::size_t> order_of(const std::deque<Taken>& taken) {
    std::vector<std::size_t> order;
    for (const Taken& one : taken) order.push_back(one.piece);
    return order;
}

// As soon as the stream is free and a piece is there, the one with the highest number is taken.
void check_greedy(const Part& part, const std::deque<Taken>& taken) {
    std::set<std::size_t> left;
    for (const Taken& one : taken) left.insert(one.piece);
    Duration free{};
    for (const Taken& one : taken) {
        Duration first = Duration::max();
        for (const std::size_t piece : left) first = std::min(first, part.put_at[piece]);
        CHECK(one.at == std::max(free, first));
        std::size_t highest = 0;
        for (const std::size_t piece : left)
            if (part.put_at[piece] <= one.at) highest = std::max(highest, piece);
        CHECK(one.piece == highest);
        left.erase(one.piece);
        free = one.done;
    }
}

// Times of their own for all pieces, which no two share.
std::vector<Duration> random_times(std::mt19937& random, std::size_t pieces, bool in_order) {
    std::vector<Duration> times;
    std::uniform_int_distribution<std::int64_t> when(0, 400);
    for (std::size_t i = 0; i < pieces; ++i)
        times.push_back(when(random) * 1us + Duration(static_cast<std::int64_t>(i)));
    if (in_order) std::ranges::sort(times);
    return times;
}

struct Ran {
    std::vector<std::vector<Part>> parts;  // by rank and step
    Shape shape;
};

Ran run_steps(unsigned seed, Order order) {
    std::mt19937 random(seed);
    const int workers = 1 + static_cast<int>(seed % 5);
    Ran ran{{}, {order, 1 + static_cast<int>(seed % 3), 1 + random() % 12}};
    for (int rank = 0; rank < workers; ++rank) {
        ran.parts.emplace_back();
        for (int step = 0; step < 3; ++step)
            ran.parts.back().push_back(
                {random_times(random, ran.shape.pieces, order == Order::fifo)});
    }
    TrainingRun run(workers, link, training_job(small_layout(), 1));
    for (int rank = 0; rank < workers; ++rank)
        run.spawn(rank, exchange_steps(run.cluster.worker(rank), ran.shape,
                                       ran.parts[static_cast<std::size_t>(rank)]));
    run.simulation.run();
    REQUIRE(run.processes.finished());  // nobody deadlocks
    CHECK(run.cluster.held().rounds == 0);
    return ran;
}

TEST_CASE("piece queue, property: by priority all take worker 0's greedy choice, in its order") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const Ran ran = run_steps(seed, Order::priority);
        for (std::size_t step = 0; step < 3; ++step)
            for (std::size_t s = 0; s < static_cast<std::size_t>(ran.shape.streams); ++s) {
                const Part& first = ran.parts[0][step];
                check_greedy(first, first.taken[s]);
                for (const std::vector<Part>& of_one : ran.parts)
                    CHECK(order_of(of_one[step].taken[s]) == order_of(first.taken[s]));
            }
    }
}

TEST_CASE("piece queue, property: first-in first-out takes pieces in the order of put") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const Ran ran = run_steps(seed, Order::fifo);
        for (const std::vector<Part>& of_one : ran.parts)
            for (const Part& part : of_one)
                for (const std::deque<Taken>& taken : part.taken)
                    CHECK(std::ranges::is_sorted(order_of(taken)));
    }
}

Task<> put_three_and_take(Worker& self, std::vector<std::size_t>& taken) {
    PieceQueue queue(self, Order::priority, 0);
    for (const std::size_t piece : {0U, 1U, 2U}) queue.put(piece);
    for (int i = 0; i < 3; ++i) {
        const std::size_t piece = co_await queue.take();
        taken.push_back(piece);
    }
}

TEST_CASE("piece queue: of pieces that are ready together, the last of backward goes first") {
    TrainingRun run(1, link, timing_job(small_layout(), 1));
    std::vector<std::size_t> taken;
    run.spawn(0, put_three_and_take(run.cluster.worker(0), taken));
    run.simulation.run();
    CHECK(taken == std::vector<std::size_t>{2, 1, 0});
}

}  // namespace
}  // namespace paceline::piece_queue_test
