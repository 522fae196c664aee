#include "app/questions/warnings/mixing_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topologies/mixing/graphs.hpp"
#include "topologies/mixing/spectrum.hpp"

namespace paceline {

namespace {

MixingIdentity identity(const Scenario& scenario) {
    return {scenario.algorithm.mixing.json, scenario.cluster.workers};
}

MixingSchedule schedule_of(const Scenario& scenario) {
    return scenario.algorithm.mixing.make(scenario.seed);
}

std::string degree_text(const Mixing& mixing) {
    std::size_t least = mixing.listeners(0).size();
    std::size_t most = least;
    for (int i = 1; i < mixing.nodes(); ++i) {
        least = std::min(least, mixing.listeners(i).size());
        most = std::max(most, mixing.listeners(i).size());
    }
    return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

std::string six_digits(const std::optional<double>& value) {
    if (!value) return "not known";
    return fmt::format("{:.6f}", std::abs(*value) < 5e-7 ? 0 : *value);
}

// Formats significant digits, because the gaps of large graphs are small.
std::string gap_text(const Spectrum& found) {
    if (found.parts > 1) return "none: parts never meet";
    const std::optional<double> gap = found.gap();
    if (!gap) return "not known";
    return *gap < 1e-12 ? "none" : fmt::format("{:.6g}", *gap);
}

std::string kind_of_change(const MixingSchedule& schedule) {
    if (schedule.is_drawn()) return "  drawn in every step; rho of the mean square";
    if (schedule.is_static()) return "";
    return fmt::format("  {} in turn; rho of their product", schedule.period());
}

// Push-sum also takes graphs whose W does not keep the mean. They have no rho.
bool keeps_mean(const MixingSchedule& schedule) {
    constexpr double tolerance = 1e-9;
    for (std::int64_t step = 0; step < schedule.period(); ++step)
        if (std::abs(worst_column(*schedule.at(step)).sum - 1) > tolerance) return false;
    return true;
}

std::string line(const Scenario& scenario) {
    const MixingSchedule schedule = schedule_of(scenario);
    const Spectrum found = keeps_mean(schedule) ? spectrum(schedule) : Spectrum{};
    return fmt::format("  {:<28} {:>6} {:>10} {:>10} {:>11} {:<10} {:>10}{}\n",
                       scenario.algorithm.mixing.name, schedule.nodes(),
                       degree_text(*schedule.at(0)), six_digits(found.rho), gap_text(found),
                       found.symmetric ? "symmetric" : "directed",
                       found.least ? six_digits(found.least) : "-", kind_of_change(schedule));
}

// Returns whether the mixing changes over time. Two nodes have only one matching.
bool changes(const MixingSchedule& schedule) {
    return !schedule.is_static() && schedule.nodes() > 2;
}

std::string of_decentlam(const MixingSchedule& schedule) {
    if (changes(schedule))
        return "DecentLaM needs a W that stays the same: momentum of one step's W does not fit the "
               "next one's, and makes workers diverge (random matchings: beyond a momentum of "
               "0.707)";
    if (!is_symmetric(*schedule.at(0)))
        return "DecentLaM needs a symmetric W: a directed one has complex eigenvalues, and with "
               "them a usual momentum makes workers diverge";
    return "";
}

std::string of_d2(const MixingSchedule& schedule) {
    if (changes(schedule) || !is_symmetric(*schedule.at(0)))
        return "D2 is proved for a symmetric W that stays the same; on others its corrections can "
               "make workers diverge";
    const std::optional<double> least = spectrum(schedule).least;
    if (!least)
        return "D2 needs a least eigenvalue of W above -1/3, and this one is not known; "
               "\"lazy\": true makes it positive";
    if (*least > -1.0 / 3 + 1e-9) return "";
    return fmt::format(
        "D2 needs a least eigenvalue of W above -1/3, and this is {}: it does not "
        "converge; \"lazy\": true lifts it",
        six_digits(least));
}

bool is_strongly_connected(const Mixing& mixing) {
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
    Graph graph(static_cast<std::size_t>(mixing.nodes()));
    for (int i = 0; i < mixing.nodes(); ++i)
        for (const int j : mixing.listeners(i))
            boost::add_edge(static_cast<std::size_t>(i), static_cast<std::size_t>(j), graph);
    std::vector<std::size_t> component(boost::num_vertices(graph));
    return boost::strong_components(graph, component.data()) == 1;
}

std::string of_push_sum(const MixingSchedule& schedule) {
    if (!schedule.is_static() || is_strongly_connected(*schedule.at(0))) return "";
    return "push-sum needs a strongly connected graph: in this one some nodes never receive from "
           "others, so models do not converge to one another";
}

std::string problem(MixingNeed need, const MixingSchedule& schedule) {
    switch (need) {
        case MixingNeed::symmetric_and_static:
            return of_decentlam(schedule);
        case MixingNeed::least_eigenvalue_above_minus_third:
            return of_d2(schedule);
        case MixingNeed::strongly_connected:
            return of_push_sum(schedule);
        case MixingNeed::none:
            break;
    }
    return "";
}

}  // namespace

std::string mixing_in_parts(const Scenario& scenario) {
    const AlgorithmChoice& algorithm = scenario.algorithm;
    // Push-sum has a condition of its own, which parts violate.
    if (algorithm.mixing_need == MixingNeed::strongly_connected) return "";
    if (!algorithm.mixing.make || !algorithm.mixing.may_have_parts) return "";
    const MixingSchedule schedule = schedule_of(scenario);
    const std::size_t parts = parts_of(schedule).count;
    if (parts == 1) return "";
    return fmt::format(
        "its mixing leaves {} workers in {} parts that never communicate with each other; rho is "
        "1, and models of different parts {}",
        schedule.nodes(), parts,
        algorithm.averages_all ? "meet only where all workers average" : "do not meet");
}

void MixingWarnings::see(const Scenario& scenario) {
    const AlgorithmChoice& algorithm = scenario.algorithm;
    if (algorithm.mixing_need == MixingNeed::none) return;
    const MixingIdentity mixing = identity(scenario);
    if (!seen_.emplace(mixing, algorithm.mixing_need, algorithm.label).second) return;
    std::string text = problem(algorithm.mixing_need, schedule_of(scenario));
    if (text.empty()) return;
    const auto alike = std::ranges::find_if(warnings_, [&](const Warning& warning) {
        return warning.algorithm == algorithm.label && warning.mixing == algorithm.mixing.name &&
               warning.problem == text;
    });
    if (alike == warnings_.end())
        warnings_.push_back(
            {algorithm.label, algorithm.mixing.name, std::move(text), {mixing.second}});
    else
        alike->workers.push_back(mixing.second);
}

std::vector<std::string> MixingWarnings::lines() const {
    std::vector<std::string> texts;
    for (const Warning& warning : warnings_)
        texts.push_back(fmt::format("{} on \"{}\" of {} workers: {}", warning.algorithm,
                                    warning.mixing, fmt::join(warning.workers, ", "),
                                    warning.problem));
    return texts;
}

void MixingLines::see(const Scenario& scenario) {
    if (!scenario.algorithm.mixing.make) return;
    if (seen_.insert(identity(scenario)).second) lines_ += line(scenario);
}

std::string MixingLines::text() const {
    if (lines_.empty()) return "";
    return fmt::format(
        "\nmixings: rho is what averaging leaves of a disagreement\n"
        "  {:<28} {:>6} {:>10} {:>10} {:>11} {:<10} {:>10}\n{}",
        "kind", "nodes", "degree", "rho", "gap", "W is", "lambda_n", lines_);
}

}  // namespace paceline
