#include "models/step_estimate.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"

namespace paceline::step_estimate_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("step estimate: six operations per multiply-accumulate of a forward pass") {
    CHECK(estimated_step(1e9, 1, 6e9, 1) == 1s);
    CHECK(estimated_step(1e9, 10, 6e12, 0.5) == 20ms);
}

TEST_CASE("step estimate: it is proportional to the work, and inversely to the share of the peak") {
    const Duration one = estimated_step(4e9, 32, 15e12, 0.5);

    CHECK(estimated_step(8e9, 32, 15e12, 0.5) == 2 * one);
    CHECK(estimated_step(4e9, 64, 15e12, 0.5) == 2 * one);
    CHECK(estimated_step(4e9, 32, 30e12, 0.25) == one);
    CHECK(estimated_step(4e9, 32, 30e12, 0.5) == one / 2);
}

TEST_CASE("step estimate: nothing to do takes no time, too much the whole clock") {
    CHECK(estimated_step(0, 32, 1e12, 0.5) == 0s);
    CHECK(estimated_step(1e9, 32, 1e12, 1e-300) == Duration::max());
}

TEST_CASE("step estimate: without a peak or an efficiency there is none") {
    CHECK_THROWS_AS(estimated_step(1e9, 1, 0, 0.5), LogicError);
    CHECK_THROWS_AS(estimated_step(1e9, 1, 1e12, 0), LogicError);
    CHECK_THROWS_AS(estimated_step(-1, 1, 1e12, 0.5), LogicError);
}

}  // namespace
}  // namespace paceline::step_estimate_test
