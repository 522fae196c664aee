// The forms of sparse methods against numbers worked by hand. The tests in tests/algorithms/sparse
// compare them with the simulation, which shares no code with them.
#include "analysis/forms/sparse_forms.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/built_in_profile.hpp"

namespace paceline::sparse_forms_test {
namespace {

using namespace std::chrono_literals;

/// 1000 and 64 entries are compressed, 10 are not.
const Layout mixed({{"a", {50, 20}}, {"b", {10}}, {"c", {8, 8}}});

DgcOptions options_of(DensityLaw law, Uncompressed uncompressed) {
    DgcOptions options;
    options.law = law;
    options.uncompressed = uncompressed;
    return options;
}

TEST_CASE("sparse forms: one contribution has ceil(rho n) entries of each tensor, 6 bytes each") {
    const DgcOptions reduced = options_of(DensityLaw::independent, Uncompressed::apart);
    const DgcOptions gathered = options_of(DensityLaw::independent, Uncompressed::in_messages);

    CHECK(form_of_union(reduced, mixed, 0.05, 1) == Bytes{6 * (50 + 4)});
    CHECK(form_of_union(gathered, mixed, 0.05, 1) == Bytes{6 * (50 + 4) + 4 * 10});
    CHECK(form_of_message(mixed, 0.05, {12, 4}) == Bytes{12 * (50 + 4) + 4 * 10});
    CHECK(form_of_message(mixed, 0.05, {6, 2, true}) == Bytes{6 * (50 + 4) + 2 * 10});
    CHECK(form_of_rest(mixed, {6, 2, true}) == Bytes{20});
    CHECK(form_of_dense(mixed, {6, 4}) == Bytes{4 * 1074});
}

TEST_CASE("sparse forms: unions grow by their law, and no tensor outweighs its dense form") {
    const DgcOptions worst = options_of(DensityLaw::worst_case, Uncompressed::in_messages);
    const DgcOptions apart = options_of(DensityLaw::independent, Uncompressed::apart);

    CHECK(form_of_union(worst, mixed, 0.05, 3) == Bytes{6 * (150 + 12) + 3 * 40});
    // 1000 (1 - 0.95^2) = 97.5 and 64 (1 - (60/64)^2) = 7.75
    CHECK(form_of_union(apart, mixed, 0.05, 2) == Bytes{6 * (98 + 8)});
    // 50 x 20 = 1000 are dense from 667 on; 64 from 43 on.
    CHECK(form_of_union(worst, mixed, 0.05, 13) == Bytes{6 * 650 + 4 * 64 + 13 * 40});
    CHECK(form_of_union(worst, mixed, 0.05, 14) == Bytes{4 * 1064 + 14 * 40});
}

TEST_CASE("sparse forms: the published messages of AlexNet and ResNet-50 come out") {
    CHECK(form_of_message(*built_in_profile("alexnet").layout(), 0.001, {6, 4}) == Bytes{408'020});
    CHECK(form_of_message(*built_in_profile("resnet-50").layout(), 0.001, {6, 4}) ==
          Bytes{369'678});
}

TEST_CASE("sparse forms: selection compares n log2 n times, or a sample and what is above it") {
    const Layout powers({{"a", {32, 32}}, {"b", {4096}}, {"c", {1, 1}}});
    CHECK(form_of_selection({Selection::exact, Duration{500}}, powers, 0.5) ==
          1024 * 10 * Duration{500});
    CHECK(form_of_selection({Selection::free, Duration{500}}, powers, 0.5) == Duration::zero());

    const Layout large({{"a", {1000, 1000}}});
    const double m = 10'000;  // one in a hundred
    const double a = 1.3 * 1000;
    CHECK(to_seconds(form_of_selection({Selection::sampled, Duration{219}}, large, 0.001)) ==
          doctest::Approx(219e-12 * (m * std::log2(m) + a * std::log2(a))).epsilon(1e-9));
    // 2/rho samples at least, and a tensor of 2/rho entries is searched whole
    const Layout small({{"a", {2000, 1}}});
    CHECK(form_of_selection({Selection::sampled, Duration{219}}, small, 0.001) ==
          form_of_selection({Selection::exact, Duration{219}}, small, 0.001));
}

TEST_CASE("sparse forms: one threshold is searched among all entries, or 100,000 of them") {
    CHECK(form_of_search({Selection::exact, Duration{500}}, 1024) == 1024 * 10 * Duration{500});
    CHECK(form_of_search({Selection::sampled, Duration{500}}, 1 << 26) ==
          form_of_search({Selection::exact, Duration{500}}, 100'000));
    CHECK(form_of_search({Selection::free, Duration{500}}, 1024) == Duration::zero());
    CHECK(form_of_search({Selection::exact, Duration{500}}, 1) == Duration::zero());
}

}  // namespace
}  // namespace paceline::sparse_forms_test
