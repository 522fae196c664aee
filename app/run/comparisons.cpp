#include "app/run/comparisons.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/measures/csv.hpp"
#include "app/run/text_table.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

bool begins_with(const Axis& axis, std::string_view section) {
    const std::string_view path = axis.path;
    return path == section ||
           (path.starts_with(section) && path.substr(section.size()).starts_with('.'));
}

// Returns whether the axis advances with one of the method, and changes neither the machines nor
// what they compute.
bool goes_with_the_method(const Axis& axis, const std::vector<Axis>& axes) {
    return axis.zip && !begins_with(axis, "cluster") && !begins_with(axis, "workload") &&
           std::ranges::any_of(axes, [&](const Axis& other) {
               return other.zip == axis.zip && begins_with(other, "algorithm");
           });
}

bool can_be_compared(const Metrics& metrics) {
    return metrics.interval && metrics.step_time_s && *metrics.step_time_s > 0;
}

}  // namespace

TimesAsFast compare(const Metrics& method, const Metrics& other) {
    PACELINE_CHECK(can_be_compared(method) && can_be_compared(other), "both have an interval");
    const RatioInterval real = interval_of_ratio(*other.interval, *method.interval);
    const double ratio = *other.step_time_s / *method.step_time_s;
    return {ratio, {ratio * real.low, ratio * real.high}};
}

std::vector<std::size_t> method_axes(const RanPoints& ran) {
    std::vector<std::size_t> found;
    for (std::size_t a = 0; a < ran.axes.size(); ++a)
        if (begins_with(ran.axes[a], "algorithm") || goes_with_the_method(ran.axes[a], ran.axes))
            found.push_back(a);
    return found;
}

std::vector<Rivals> rivals_of(const RanPoints& ran) {
    const std::vector<std::size_t> methods = method_axes(ran);
    std::vector<Rivals> all;
    std::map<std::vector<std::size_t>, std::size_t> known;
    for (const RanPoint& point : ran.points) {
        if (!can_be_compared(point.metrics())) continue;
        std::vector<std::size_t> machines = point.choice;
        for (const std::size_t axis : methods) machines[axis] = 0;
        const auto [found, is_new] = known.emplace(std::move(machines), all.size());
        if (is_new) all.emplace_back();
        all[found->second].push_back(&point);
    }
    std::erase_if(all, [](const Rivals& rivals) { return rivals.size() < 2; });
    return all;
}

std::optional<std::string> comparisons_csv(const RanPoints& ran) {
    const std::vector<Rivals> all = rivals_of(ran);
    if (all.empty()) return std::nullopt;
    std::string text =
        "point,algorithm,against,against_algorithm,times_as_fast,times_as_fast_low,"
        "times_as_fast_high\n";
    for (const Rivals& rivals : all)
        for (std::size_t i = 1; i < rivals.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const TimesAsFast found = compare(rivals[i]->metrics(), rivals[j]->metrics());
                std::vector<std::string> row;
                for (const RanPoint* point : {rivals[i], rivals[j]}) {
                    row.push_back(fmt::format("{}", point->number));
                    row.push_back(csv_field(point->jobs.front().algorithm));
                }
                for (const double value : {found.predicted, found.ends.low, found.ends.high})
                    row.push_back(csv_field(value));
                text += csv_row(row);
            }
    return text;
}

namespace {

// The rivals on the same machines, with all their seeds.
struct Contest {
    std::string machines;
    std::vector<Rivals> seeds;
};

std::vector<Contest> contests_of(const RanPoints& ran, const std::vector<std::size_t>& methods) {
    std::vector<std::size_t> without = methods;
    without.push_back(ran.axis("seed"));
    std::vector<Contest> all;
    std::map<std::string, std::size_t> known;
    for (Rivals& rivals : rivals_of(ran)) {
        std::string machines = description(ran, *rivals.front(), without);
        const auto [found, is_new] = known.emplace(machines, all.size());
        if (is_new) all.push_back({std::move(machines), {}});
        all[found->second].seeds.push_back(std::move(rivals));
    }
    return all;
}

// Returns the rival that makes the choice on the axes of methods; nothing if none does.
const RanPoint* with_choice_of(const RanPoint& rival, const Rivals& rivals,
                               const std::vector<std::size_t>& methods) {
    const auto found = std::ranges::find_if(rivals, [&](const RanPoint* other) {
        return std::ranges::all_of(
            methods, [&](std::size_t axis) { return other->choice[axis] == rival.choice[axis]; });
    });
    return found == rivals.end() ? nullptr : *found;
}

// Returns the comparison of two methods as a mean over the seeds.
TimesAsFast over_seeds_of(const Contest& contest, const RanPoint& method, const RanPoint& other,
                          const std::vector<std::size_t>& methods) {
    TimesAsFast sum{0, {0, 0}};
    double count = 0;
    for (const Rivals& rivals : contest.seeds) {
        const RanPoint* const mine = with_choice_of(method, rivals, methods);
        const RanPoint* const theirs = with_choice_of(other, rivals, methods);
        if (mine == nullptr || theirs == nullptr) continue;
        const TimesAsFast here = compare(mine->metrics(), theirs->metrics());
        sum.predicted += here.predicted;
        sum.ends.low += here.ends.low;
        sum.ends.high += here.ends.high;
        ++count;
    }
    return {sum.predicted / count, {sum.ends.low / count, sum.ends.high / count}};
}

// Returns the line of a contest: the fastest method of its first seed's rivals by means over seeds,
// the next one, and those that may be as fast.
TableRow line_of(const RanPoints& ran, const Contest& contest,
                 const std::vector<std::size_t>& methods, const std::vector<std::size_t>& others) {
    const Rivals& rivals = contest.seeds.front();
    const auto name = [&](const RanPoint& rival) { return description(ran, rival, others); };
    const RanPoint* fastest = rivals.front();
    for (const RanPoint* rival : rivals)
        if (over_seeds_of(contest, *rival, *fastest, methods).predicted > 1) fastest = rival;
    const RanPoint* next = nullptr;
    TimesAsFast least;
    std::string open;
    for (const RanPoint* rival : rivals) {
        if (rival == fastest) continue;
        const TimesAsFast here = over_seeds_of(contest, *fastest, *rival, methods);
        if (!here.is_sure()) open += (open.empty() ? "" : "; ") + name(*rival);
        if (next != nullptr && here.predicted >= least.predicted) continue;
        next = rival;
        least = here;
    }
    return {
        contest.machines, name(*fastest), name(*next), open.empty() ? "none" : std::move(open),
        fmt::format("{:.2f} ({:.2f} to {:.2f})", least.predicted, least.ends.low, least.ends.high)};
}

}  // namespace

std::string fastest_methods(const RanPoints& ran) {
    const std::vector<std::size_t> methods = method_axes(ran);
    std::vector<std::size_t> others;
    for (std::size_t a = 0; a < ran.axes.size(); ++a)
        if (std::ranges::find(methods, a) == methods.end()) others.push_back(a);
    std::vector<TableRow> rows{
        {"", "fastest", "next", "too close to call", "lead of the fastest (ratio)"}};
    for (const Contest& contest : contests_of(ran, methods))
        rows.push_back(line_of(ran, contest, methods, others));
    return rows.size() > 1 ? "\n" + rows_to_text(rows, 4) : "";
}

}  // namespace paceline
