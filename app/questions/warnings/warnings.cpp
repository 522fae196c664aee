#include "app/questions/warnings/warnings.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/questions/warnings/of_data.hpp"
#include "app/questions/warnings/of_ends.hpp"
#include "app/questions/warnings/of_memory.hpp"
#include "app/questions/warnings/of_networks.hpp"
#include "app/questions/warnings/of_steps.hpp"

namespace paceline {

namespace {

constexpr std::string_view drawn_routes = "drawn-routes";
constexpr std::string_view unsuited_mixing = "unsuited-mixing";

// To add a warning: a function of a scenario, a line here, a section of docs/warnings.md.
constexpr auto kinds = std::to_array<WarningKind>({
    {"unfinished-period", &unfinished_period},
    {"no-whole-period", &no_whole_period},
    {"no-rated-period", &no_rated_period},
    {"unfinished-warm-up", &unfinished_warm_up},
    {"one-by-one", &one_by_one, true, true},
    {"flat-over-machines", &flat_over_machines, true, true},
    {"wide-wire", &wide_wire, true, true},
    {"more-than-dense", &more_than_dense},
    {"beyond-memory", &beyond_memory},
    {"beyond-the-clock", &beyond_the_clock},
    {"no-whole-step", &no_whole_step},
    {"no-progress", &vain_failures},
    {"time-stands-still", &time_stands_still},
    {"default-evaluations", &default_evaluations},
    {"late-evaluations", &late_evaluations},
    {"batch-beyond-shard", &batch_beyond_shard, false, true},
    {"one-class", &one_class, false},
    {"equal-steps", &equal_steps},
    {"unlike-hops", &unlike_hops, true, true},
    {"unbounded-connections", &unbounded_connections, false, true},
    {"unlike-validated", &unlike_validated, true, true},
    {"hierarchy-is-a-ring", &hierarchy_is_a_ring},
    {drawn_routes, &depends_on_drawn_routes, false},
    {"mixing-in-parts", &mixing_in_parts, true, true},
    {unsuited_mixing, nullptr},
});

}  // namespace

std::span<const WarningKind> warning_kinds() {
    return kinds;
}

void Warnings::see(const Point& point) {
    mixings_.see(point.scenario);
    see(point.scenario, point.scenario.algorithm.label);
    for (const Scenario& job : point.scenario.other_jobs)
        see(job, fmt::format("{} ({})", job.algorithm.label, job.job));
}

void Warnings::see(const Scenario& scenario, const std::string& label) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        if (kinds[kind].text == nullptr) continue;
        const std::string whose = kinds[kind].of_algorithm ? label + ": " : "";
        if (kinds[kind].is_dear && places_.contains({kind, whose})) continue;
        std::string text = kinds[kind].text(scenario);
        if (text.empty()) continue;
        const auto [place, is_new] = places_.try_emplace({kind, whose}, found_.size());
        if (is_new) found_.push_back({kind, whose + std::move(text), 0});
        ++found_[place->second].points;
    }
}

std::vector<std::string> Warnings::lines(const std::vector<Axis>& axes) const {
    const bool seed_is_swept = std::ranges::find(axes, "seed", &Axis::path) != axes.end();
    std::vector<std::string> lines;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        if (kinds[kind].name == drawn_routes && seed_is_swept) continue;
        for (const Found& found : found_) {
            if (found.kind != kind) continue;
            const std::string others =
                found.points == 1 ? "" : fmt::format("; this applies to {} points", found.points);
            lines.push_back(fmt::format("{}{} [{}]", found.text, others, kinds[kind].name));
        }
        if (kinds[kind].name == unsuited_mixing)
            for (const std::string& text : mixings_.lines())
                lines.push_back(fmt::format("{} [{}]", text, unsuited_mixing));
    }
    return lines;
}

}  // namespace paceline
