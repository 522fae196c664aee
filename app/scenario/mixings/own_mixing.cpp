#include "app/scenario/mixings/own_mixing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Rows = std::vector<std::vector<MixingWeight>>;

constexpr double tolerance_of_sums = 1e-9;
constexpr std::int64_t longest_period = 10'000;

// Returns what is wrong with the rows of W; empty: nothing.
std::string fault_of_rows(const Rows& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double sum = 0;
        for (const MixingWeight& w : rows[i]) {
            if (!std::isfinite(w.weight) || w.weight < 0)
                return fmt::format("row {} has weight {:.6g} of node {}; weights are 0 or more", i,
                                   w.weight, w.node);
            sum += w.weight;
        }
        if (std::abs(sum - 1) > tolerance_of_sums)
            return fmt::format("row {} sums to {:.9g}; the weights of a node sum to 1", i, sum);
    }
    return {};
}

std::string fault_of_columns(const Rows& rows) {
    std::vector<double> sums(rows.size());
    for (const auto& row : rows)
        for (const MixingWeight& w : row) sums[static_cast<std::size_t>(w.node)] += w.weight;
    for (std::size_t j = 0; j < sums.size(); ++j)
        if (std::abs(sums[j] - 1) > tolerance_of_sums)
            return fmt::format(
                "column {}, what others take from node {} and it keeps, sums to {:.9g}, so "
                "averages would not preserve the mean; columns must sum to 1",
                j, j, sums[j]);
    return {};
}

// A row whose sum is rounded gives the rest to its own node.
Rows with_exact_sums(Rows rows) {
    constexpr double exact = 1e-13;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double others = 0;
        double sum = 0;
        for (const MixingWeight& w : rows[i]) {
            sum += w.weight;
            if (!std::cmp_equal(w.node, i)) others += w.weight;
        }
        if (std::abs(sum - 1) <= exact) continue;
        std::erase_if(rows[i], [&](const MixingWeight& w) { return std::cmp_equal(w.node, i); });
        const int own = static_cast<int>(i);
        const auto at = std::ranges::upper_bound(rows[i], own, {}, &MixingWeight::node);
        rows[i].insert(at, {own, 1 - others});
    }
    return rows;
}

struct Checked {
    Rows rows;
    std::string fault;
};

Checked checked_rows(const OwnMixing::Made& made, MixingUse use, std::int64_t step) {
    Checked checked{made.rows(step), {}};
    checked.fault = fault_of_rows(checked.rows);
    if (checked.fault.empty() && use == MixingUse::averages)
        checked.fault = fault_of_columns(checked.rows);
    if (checked.fault.empty()) checked.rows = with_exact_sums(std::move(checked.rows));
    return checked;
}

Mixing mixing_at(const Place& kind, const OwnMixing::Made& made, MixingUse use, std::int64_t step) {
    Checked checked = checked_rows(made, use, step);
    if (!checked.fault.empty())
        kind.refuse(fmt::format("W of step {} is not a mixing: {}", step, checked.fault));
    return Mixing(std::move(checked.rows));
}

// W of steps that do not repeat. Workers are in a few steps at a time, whose W are kept.
MixingSchedule drawn_schedule(const std::shared_ptr<const OwnMixing::Made>& made, MixingUse use,
                              int workers) {
    using Kept = std::vector<std::pair<std::int64_t, Mixing>>;
    const auto draw = [made, use, kept = std::make_shared<Kept>()](std::int64_t step) {
        constexpr std::size_t most_kept = 4;
        for (const auto& [known, mixing] : *kept)
            if (known == step) return mixing;
        Checked checked = checked_rows(*made, use, step);
        if (!checked.fault.empty()) made->fail(step, checked.fault);
        if (kept->size() == most_kept) kept->erase(kept->begin());
        kept->emplace_back(step, Mixing(std::move(checked.rows)));
        return kept->back().second;
    };
    return MixingSchedule::drawn(workers, draw, std::nullopt);
}

int most_listeners_of(const std::vector<Mixing>& mixings, int workers) {
    std::size_t most = 0;
    for (const Mixing& mixing : mixings)
        for (int i = 0; i < workers; ++i) most = std::max(most, mixing.listeners(i).size());
    return static_cast<int>(most);
}

}  // namespace

MixingChoice read_own_mixing(const OwnMixing& own, const Place& place, int workers, MixingUse use) {
    std::vector<std::string_view> keys{"kind", "label"};
    keys.insert(keys.end(), own.options.begin(), own.options.end());
    const ObjectReader read(place, keys);
    const Place kind = read.required("kind", "a mixing");
    const auto made = std::make_shared<const OwnMixing::Made>(own.make(place, workers));
    if (made->period < 0 || made->period > longest_period)
        kind.refuse(fmt::format("a period is of 1 to {} steps", longest_period));
    std::vector<Mixing> mixings;
    for (std::int64_t k = 0; k < std::max<std::int64_t>(made->period, 1); ++k)
        mixings.push_back(mixing_at(kind, *made, use, k));

    MixingChoice choice;
    choice.name = made->name;
    choice.json = place.json->dump();
    choice.may_have_parts = made->period > 0;
    choice.degree = most_listeners_of(mixings, workers);
    choice.meets_everybody = choice.degree == workers - 1 || made->period == 0;
    if (made->period == 0) {
        choice.make = [made, use, workers](std::uint64_t /*seed*/) {
            return drawn_schedule(made, use, workers);
        };
        return choice;
    }
    choice.make = [period = std::move(mixings)](std::uint64_t /*seed*/) {
        return MixingSchedule::periodic(period);
    };
    return choice;
}

}  // namespace paceline
