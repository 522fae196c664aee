// The closed forms against figures worked out by hand. tests/sim/collectives checks that the
// simulation agrees with them.
#include "analysis/forms/closed_forms.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <doctest/doctest.h>

namespace paceline::closed_forms_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const IdleStar star{1_Gbps, 100us};  // 125 bytes take 1 us

Bytes three_bytes_each(int contributions) {
    return contributions * 3_B;
}

TEST_CASE("closed forms: one member alone takes no time") {
    CHECK(ring_all_reduce_time(1, 97_MB, star) == 0ns);
    CHECK(recursive_doubling_all_reduce_time(1, 97_MB, star) == 0ns);
    CHECK(halving_doubling_all_reduce_time(1, 97_MB, star) == 0ns);
    CHECK(ring_all_gather_time(1, 97_MB, star) == 0ns);
    CHECK(bruck_all_gather_time(1, 97_MB, star) == 0ns);
    CHECK(sparse_all_reduce_time(1, three_bytes_each, star) == 0ns);
}

TEST_CASE("closed forms: two members exchange once, or twice by halves") {
    CHECK(ring_all_reduce_time(2, 1_MB, star) == 2 * (4ms + 100us));
    CHECK(recursive_doubling_all_reduce_time(2, 1_MB, star) == 8ms + 100us);
    CHECK(halving_doubling_all_reduce_time(2, 1_MB, star) == 2 * (4ms + 100us));
    CHECK(ring_all_gather_time(2, 1_MB, star) == 8ms + 100us);
    CHECK(bruck_all_gather_time(2, 1_MB, star) == 8ms + 100us);
    CHECK(sparse_all_reduce_time(2, three_bytes_each, star) == 24ns + 100us);
}

TEST_CASE("closed forms: the longest chunk counts") {
    CHECK(ring_all_reduce_time(4, 10_B, star) == 6 * (24ns + 100us));
    // Halves of 6 bytes and quarters of 3 bytes.
    CHECK(halving_doubling_all_reduce_time(4, 10_B, star) == 2 * (48ns + 24ns + 200us));
    CHECK(ring_all_reduce_time(4, 1_B, star) == 6 * (8ns + 100us));
}

TEST_CASE("closed forms: a vector without bytes costs the latencies") {
    CHECK(ring_all_reduce_time(4, 0_B, star) == 600us);
    CHECK(recursive_doubling_all_reduce_time(4, 0_B, star) == 200us);
    CHECK(halving_doubling_all_reduce_time(4, 0_B, star) == 400us);
    CHECK(bruck_all_gather_time(5, 0_B, star) == 300us);
}

TEST_CASE("closed forms: a group that is not a power of two hands over all before and after") {
    CHECK(recursive_doubling_all_reduce_time(6, 1_MB, star) == 4 * (8ms + 100us));
    CHECK(halving_doubling_all_reduce_time(6, 1_MB, star) ==
          2 * (8ms + 100us) + 2 * (4ms + 100us) + 2 * (2ms + 100us));
}

TEST_CASE("closed forms: Bruck sends 1, 2 and 1 blocks among five") {
    CHECK(bruck_all_gather_time(5, 125_B, star) == 4us + 300us);
    CHECK(bruck_all_gather_time(8, 125_B, star) == 7us + 300us);
    CHECK(bruck_all_gather_time(9, 125_B, star) == 8us + 400us);
}

TEST_CASE("closed forms: three members merge one and two, and two contributions wait for no one") {
    // One contribution takes 24 ns. Survivor 0 stands for two ranks: it has both contributions at L
    // + 24 ns, sends them in 48 ns while one arrives in 24 ns + L, and finally sends all three in
    // 72 ns.
    CHECK(sparse_all_reduce_time(3, three_bytes_each, star) ==
          (24ns + 100us) + (24ns + 100us) + (72ns + 100us));
    CHECK(sparse_all_reduce_time(3, three_bytes_each, {1_Gbps, 0us}) == 24ns + 48ns + 72ns);
}

TEST_CASE("closed forms: textbook formulas hold for powers of two") {
    for (int m = 0; m <= 10; ++m) {
        CAPTURE(m);
        const int n = 1 << m;
        const Bytes size{n * 125'000};
        const double bytes_time = n * 1e-3;  // S / B

        const auto nearly = [](double seconds) {
            return Approx(seconds).epsilon(1e-9).scale(1e-3);
        };
        CHECK(to_seconds(ring_all_reduce_time(n, size, star)) ==
              nearly(2 * (n - 1) * (1e-4 + 1e-3)));
        CHECK(to_seconds(recursive_doubling_all_reduce_time(n, size, star)) ==
              nearly(m * (1e-4 + bytes_time)));
        CHECK(to_seconds(halving_doubling_all_reduce_time(n, size, star)) ==
              nearly(2 * m * 1e-4 + 2.0 * (n - 1) / n * bytes_time));
        CHECK(to_seconds(ring_all_gather_time(n, 125'000_B, star)) ==
              nearly((n - 1) * (1e-4 + 1e-3)));
        CHECK(to_seconds(bruck_all_gather_time(n, 125'000_B, star)) ==
              nearly(m * 1e-4 + (n - 1) * 1e-3));
        CHECK(to_seconds(sparse_all_reduce_time(
                  n, [](int c) { return c * 125'000_B; }, star)) ==
              nearly(m * 1e-4 + (n - 1) * 1e-3));
    }
}

TEST_CASE("closed forms: the published times of the ring, 97 MB at 1 Gbps and 50 us per link") {
    CHECK(to_seconds(ring_all_reduce_time(8, 97_MB, star)) == Approx(1.359400).epsilon(1e-5));
    CHECK(to_seconds(ring_all_reduce_time(64, 97_MB, star)) == Approx(1.540350).epsilon(1e-5));
    CHECK(to_seconds(ring_all_reduce_time(256, 97_MB, star)) == Approx(1.596937).epsilon(1e-5));
    CHECK(to_seconds(ring_all_reduce_time(1024, 97_MB, star)) == Approx(1.755084).epsilon(1e-5));
}

}  // namespace
}  // namespace paceline::closed_forms_test
