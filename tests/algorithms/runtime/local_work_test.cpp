#include "algorithms/runtime/local_work.hpp"

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>
#include <tbb/global_control.h>

namespace paceline::local_work_test {
namespace {

TEST_CASE("local work: a joined piece has run once, and not before it was needed") {
    LocalWork all;
    int done = 0;
    LocalWork::Piece piece(all, [&done] { ++done; });
    CHECK(done == 0);

    piece.join();
    CHECK(done == 1);
    piece.join();
    CHECK(done == 1);
}

TEST_CASE("local work: the first join runs everything submitted so far, and no more") {
    LocalWork all;
    std::atomic<int> first{0};
    std::atomic<int> second{0};
    std::atomic<int> late{0};
    LocalWork::Piece a(all, [&first] { ++first; });
    LocalWork::Piece b(all, [&second] { ++second; });

    b.join();
    LocalWork::Piece c(all, [&late] { ++late; });
    CHECK(first == 1);
    CHECK(second == 1);
    CHECK(late == 0);

    a.join();
    CHECK(first == 1);
    CHECK(late == 0);

    c.join();
    CHECK(first == 1);
    CHECK(second == 1);
    CHECK(late == 1);
}

TEST_CASE("local work: a piece that is dropped before it is needed never runs") {
    LocalWork all;
    std::atomic<int> dropped{0};
    std::atomic<int> kept{0};
    LocalWork::Piece before(all, [&kept] { ++kept; });
    {
        const LocalWork::Piece piece(all, [&dropped] { ++dropped; });
    }
    LocalWork::Piece behind(all, [&kept] { ++kept; });

    behind.join();
    before.join();

    CHECK(dropped == 0);
    CHECK(kept == 2);
}

TEST_CASE("local work: an exception is rethrown where its piece is joined, and nowhere else") {
    LocalWork all;
    std::atomic<int> done{0};
    LocalWork::Piece good(all, [&done] { ++done; });
    LocalWork::Piece bad(all, [] { throw std::runtime_error("this piece"); });
    LocalWork::Piece worse(all, [] { throw std::out_of_range("another"); });
    LocalWork::Piece also_good(all, [&done] { ++done; });

    CHECK_NOTHROW(good.join());
    CHECK_NOTHROW(also_good.join());
    CHECK(done == 2);
    CHECK_THROWS_WITH_AS(bad.join(), "this piece", std::runtime_error);
    CHECK_THROWS_WITH_AS(worse.join(), "another", std::out_of_range);
}

TEST_CASE("local work: the exception of a piece that nobody joins is dropped with it") {
    LocalWork all;
    LocalWork::Piece good(all, [] {});
    {
        const LocalWork::Piece bad(all, [] { throw std::runtime_error("never seen"); });
        CHECK_NOTHROW(good.join());
    }
    LocalWork::Piece later(all, [] {});
    CHECK_NOTHROW(later.join());
}

// Sums that differ in their last bits if taken in another order.
std::vector<double> results_with(std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    LocalWork all;
    std::vector<double> results(50);
    std::vector<std::unique_ptr<LocalWork::Piece>> pieces;
    for (std::size_t i = 0; i < results.size(); ++i)
        pieces.push_back(std::make_unique<LocalWork::Piece>(all, [&results, i] {
            for (int k = 1; k < 2000; ++k) results[i] += std::sin(static_cast<double>(i) + k) / k;
        }));
    for (const auto& piece : pieces) piece->join();
    return results;
}

TEST_CASE("local work: results are the same bits on one thread and on four") {
    const std::vector<double> one = results_with(1);

    CHECK(results_with(4) == one);
    CHECK(results_with(4) == one);
}

}  // namespace
}  // namespace paceline::local_work_test
