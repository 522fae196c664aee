#include "models/data/data_sets.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace paceline::data_sets_test {
namespace {

// Returns a set of so many training samples, which takes 8 bytes for each.
Dataset set_of(int samples) {
    Dataset set;
    set.train.inputs = Eigen::MatrixXf::Constant(1, samples, 1.0f);
    set.train.labels = Eigen::VectorXi::Zero(samples);
    return set;
}

// Counts how often each set is made.
struct Counted {
    DataSets sets;
    std::vector<int> made = std::vector<int>(10, 0);

    explicit Counted(std::int64_t room) : sets(Bytes{room}) {}
    DataSetPtr get(int number) {
        return sets.get(fmt::format("{}", number), [&] {
            ++made[static_cast<std::size_t>(number)];
            return set_of(10);
        });
    }
};

TEST_CASE("data sets: each is made once while there is room for all") {
    Counted counted(10 * 80);
    for (int time = 0; time < 3; ++time)
        for (int number = 0; number < 10; ++number) CHECK(counted.get(number)->train.count() == 10);
    CHECK(counted.made == std::vector<int>(10, 1));
}

TEST_CASE("data sets: the one used longest ago makes room, and is made again when asked for") {
    Counted counted(2 * 80);
    (void)counted.get(0);
    (void)counted.get(1);
    (void)counted.get(0);
    (void)counted.get(2);  // 1 goes
    (void)counted.get(0);
    CHECK(counted.made[0] == 1);
    (void)counted.get(1);
    CHECK(counted.made[1] == 2);
    CHECK(counted.made[2] == 1);
}

TEST_CASE("data sets: what a run holds is not made again, and goes with the run") {
    Counted counted(0);
    std::weak_ptr<const Dataset> gone;
    {
        const DataSetPtr held = counted.get(3);
        CHECK(counted.get(3) == held);
        gone = held;
    }
    CHECK(counted.made[3] == 1);
    CHECK(gone.expired());
    (void)counted.get(3);
    CHECK(counted.made[3] == 2);
}

TEST_CASE("data sets: what making throws is thrown, and asked for again it is made") {
    DataSets sets(Bytes{1000});
    const auto fail = []() -> Dataset { throw std::runtime_error("no"); };
    CHECK_THROWS_WITH_AS(sets.get("a", fail), "no", std::runtime_error);
    CHECK(sets.get("a", [] { return set_of(3); })->train.count() == 3);
}

TEST_CASE("data sets: threads that need the same set share it, and others do not wait") {
    DataSets sets(Bytes{1 << 20});
    std::atomic<int> made = 0;
    std::atomic<int> under_way = 0;
    std::vector<std::thread> threads;
    std::vector<DataSetPtr> got(8);
    for (std::size_t i = 0; i < got.size(); ++i)
        threads.emplace_back([&, i] {
            got[i] = sets.get(fmt::format("{}", i % 2), [&] {
                ++made;
                ++under_way;
                while (under_way < 2) std::this_thread::yield();  // until both are being made
                return set_of(5);
            });
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(made == 2);
    for (std::size_t i = 2; i < got.size(); ++i) CHECK(got[i] == got[i - 2]);
}

}  // namespace
}  // namespace paceline::data_sets_test
