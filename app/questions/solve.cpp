#include "app/questions/solve.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/json/names.hpp"
#include "app/questions/warnings/warnings.hpp"
#include "app/run/step_costs.hpp"

namespace paceline {

namespace {

[[noreturn]] void refuse_search(const std::string& path, Fault fault) {
    throw ConfigError("command line", path, std::move(fault));
}

[[noreturn]] void refuse_search(const std::string& path, std::string problem) {
    refuse_search(path, Fault{std::move(problem)});
}

std::string path_of(const std::string& setting) {
    return setting.substr(0, setting.find('='));
}

bool at_or_below(const std::string& path, const std::string& above) {
    return path == above || path.starts_with(above + ".");
}

void check_column(const std::string& column) {
    const std::vector<std::string_view> known = column_names();
    if (std::ranges::find(known, column) == known.end())
        refuse_search("--find", unknown(column, "a column of numbers in results.csv", known));
}

// A share of 90 % is 0.9. An efficiency can be above 1, as where other nodes are faster than the
// first, so that a number is refused only from 2 on.
void check_share(const SolveQuestion& question) {
    const bool is_share =
        question.column == "efficiency" || question.column == "density" ||
        question.column == "union_density" || question.column == "participation" ||
        question.column.ends_with("_share") || question.column.starts_with("test_accuracy");
    if (!is_share || !question.equals || *question.equals < 2) return;
    const std::string beyond = fmt::format("{} is a share, and {} is too large for one",
                                           question.column, *question.equals);
    if (*question.equals > 100) refuse_search("--equals", beyond + "; 90 % is 0.9");
    const std::string meant = fmt::format("{:.12g}", *question.equals / 100);
    refuse_search("--equals", {.problem = fmt::format("{}; did you mean \"{}\", {} %?", beyond,
                                                      meant, *question.equals),
                               .suggestion = meant});
}

void check_target(const SolveQuestion& question) {
    if (question.equals && !question.against.empty())
        refuse_search(
            "--equals",
            "cannot be used with --against: compare with a number or with another scenario");
    if (!question.equals && question.against.empty())
        refuse_search("--find",
                      "names a column but no target for it; give --equals a number, or --against a "
                      "setting of the scenario to compare with");
    if (question.times != 1 && question.against.empty())
        refuse_search("--times",
                      "multiplies the other scenario's column, and there is no other scenario; "
                      "give --against");
    check_share(question);
}

Subject other_subject(const SolveQuestion& question, const VariedQuantity& varied) {
    Subject other{question.settings, question.picks, true};
    for (const std::string& setting : question.against) {
        other.settings.push_back(setting);
        const std::string path = path_of(setting);
        if (at_or_below(varied.path, path) || at_or_below(path, varied.path)) other.varies = false;
    }
    return other;
}

// Returns an error of a setting under the name of the option that set it.
ConfigError blamed(const ConfigError& error, const std::string& option,
                   const std::vector<std::string>& paths) {
    constexpr std::string_view set = "--set";
    if (error.file() != "command line" || !error.path().starts_with(set)) return error;
    const std::string rest = error.path().substr(set.size());
    const std::string path = rest.empty() ? rest : rest.substr(1);
    const auto leads_there = [&](const std::string& above) {
        return path.empty() ? option == "--against"
                            : at_or_below(path, above) || path.starts_with(above + "[");
    };
    if (std::ranges::none_of(paths, leads_there)) return error;
    return {error.file(), option + rest, error.fault()};
}

// Reports errors of settings under the name of the option that set them.
template <class Read>
auto blaming(const std::string& option, const std::vector<std::string>& paths, Read read) {
    try {
        return read();
    } catch (const ConfigError& error) {
        std::vector<ConfigError> others;
        for (const ConfigError& other : error.others())
            others.push_back(blamed(other, option, paths));
        throw ConfigError(blamed(error, option, paths), std::move(others));
    }
}

std::vector<std::string> paths_of(const std::vector<std::string>& settings) {
    std::vector<std::string> paths;
    for (const std::string& setting : settings) paths.push_back(path_of(setting));
    return paths;
}

// The two scenarios, or the one that is compared with a number.
class Comparison {
  public:
    Comparison(const SolveQuestion& question, const ScenarioText& scenario,
               const VariedQuantity& varied, Evaluate evaluate)
        : question_(question),
          points_(question.column, scenario, varied, std::move(evaluate)),
          main_{question.settings, question.picks, true},
          other_(other_subject(question, varied)),
          follows_(follows_of(question.column)) {}

    // Returns whether the scenario takes only whole numbers at this path. Throws ConfigError if it
    // refuses an end of the range.
    [[nodiscard]] bool check_ends(const VariedQuantity& varied) const {
        const bool whole = varied.kind == QuantityKind::number &&
                           varied.from == std::floor(varied.from) &&
                           varied.to == std::floor(varied.to) && std::abs(varied.to) < 1e15 &&
                           std::abs(varied.from) < 1e15 && !takes(main_, varied.from + 0.5) &&
                           (takes(main_, varied.from) || takes(main_, varied.to));
        const auto read_ends = [&](const Subject& subject) {
            if (whole && takes(subject, varied.to)) return;
            (void)points_.read(subject, varied.from);
            if (!whole && subject.varies) (void)points_.read(subject, varied.to);
        };
        blaming("--vary", {varied.path}, [&] { read_ends(main_); });
        if (has_other())
            blaming("--against", paths_of(question_.against),
                    [&] { blaming("--vary", {varied.path}, [&] { read_ends(other_); }); });
        return whole;
    }

    [[nodiscard]] bool other_varies() const { return has_other() && other_.varies; }
    [[nodiscard]] const SearchedPoints& points() const { return points_; }

    std::vector<Sides> sides(const std::vector<double>& values,
                             std::map<double, std::string>& why_gap) {
        return sides_of(candidates(values), values, why_gap);
    }

    // Returns whether runs have intervals that the column follows.
    [[nodiscard]] bool has_interval(const std::vector<SolvedPoint>& ran) const {
        return follows_ != Follows::nothing &&
               std::ranges::any_of(ran, [](const SolvedPoint& point) {
                   return point.metrics.interval.has_value();
               });
    }

    // Returns the sides with the left one at an end of its interval, or of that of the ratio.
    std::vector<Sides> sides_at_end(const std::vector<double>& values, bool is_high) {
        std::map<double, std::string> ignored;
        const std::vector<Candidate> all = candidates(values);
        std::vector<Sides> sides = sides_of(all, values, ignored);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Metrics* const mine = points_.metrics(all[i]);
            const Metrics* const theirs =
                has_other() ? points_.metrics(all[values.size() + i]) : nullptr;
            if (!sides[i].left || mine == nullptr || !mine->interval ||
                (has_other() && (theirs == nullptr || !theirs->interval))) {
                sides[i].left.reset();
                continue;
            }
            const RatioInterval real =
                theirs == nullptr ? RatioInterval{mine->interval->low, mine->interval->high}
                                  : interval_of_ratio(*mine->interval, *theirs->interval);
            sides[i].left = at_end(*sides[i].left, follows_, real, is_high);
        }
        return sides;
    }

    // Returns the sides from closed forms, where both have one.
    [[nodiscard]] std::vector<Sides> predicted_sides(const std::vector<double>& values) const {
        std::vector<Sides> sides;
        for (const double value : values) {
            Sides& at = sides.emplace_back();
            at.left = predicted(main_, value);
            at.right = has_other() ? predicted(other_, value) : question_.equals;
            if (at.right) *at.right *= question_.times;
        }
        return sides;
    }

    // Returns the points of the scenario itself that were run at these values.
    [[nodiscard]] std::vector<SolvedPoint> ran(const std::vector<Sample>& samples) const {
        std::vector<SolvedPoint> ran;
        for (const Sample& sample : samples) {
            Candidate candidate = points_.candidate(main_, sample.x);
            if (const Metrics* const metrics = points_.metrics(candidate))
                ran.push_back({sample.x, std::move(*candidate.point), *metrics});
        }
        return ran;
    }

    // Returns each warning of the points at these values once.
    [[nodiscard]] std::vector<std::string> warnings(const std::vector<double>& values) const {
        std::vector<std::string> lines;
        for (const Candidate& candidate : candidates(values)) {
            if (!candidate.point) continue;
            Warnings of_point;
            of_point.see(*candidate.point);
            for (std::string& line : of_point.lines({}))
                if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
        }
        return lines;
    }

  private:
    [[nodiscard]] bool has_other() const { return !question_.equals; }
    [[nodiscard]] bool takes(const Subject& subject, double value) const {
        return points_.candidate(subject, value).point.has_value();
    }

    // Runs the candidates at these values, and returns their sides.
    std::vector<Sides> sides_of(const std::vector<Candidate>& all,
                                const std::vector<double>& values,
                                std::map<double, std::string>& why_gap) {
        points_.run(all);
        std::vector<Sides> sides;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Candidate* theirs = has_other() ? &all[values.size() + i] : nullptr;
            Sides& at = sides.emplace_back();
            at.left = points_.column(all[i]);
            at.right = theirs != nullptr ? points_.column(*theirs) : question_.equals;
            if (at.right) *at.right *= question_.times;
            std::string why = points_.why_empty(all[i]);
            if (why.empty() && theirs != nullptr) {
                why = points_.why_empty(*theirs);
                if (!why.empty()) why.insert(0, "the other: ");
            }
            if (!why.empty()) why_gap[values[i]] = why;
        }
        return sides;
    }

    // Returns the points at these values, and then those of the other scenario, if there is one.
    [[nodiscard]] std::vector<Candidate> candidates(const std::vector<double>& values) const {
        std::vector<Candidate> all;
        for (const double value : values) all.push_back(points_.candidate(main_, value));
        if (!has_other()) return all;
        for (const double value : values) all.push_back(points_.candidate(other_, value));
        return all;
    }

    [[nodiscard]] std::optional<double> predicted(const Subject& subject, double value) const {
        const Candidate candidate = points_.candidate(subject, value);
        if (!candidate.point) return std::nullopt;
        const Scenario& scenario = candidate.point->scenario;
        const auto steps = scenario.steps();
        const auto model = steps ? model_rated_step(scenario, *steps) : std::nullopt;
        if (!model || scenario.training) return std::nullopt;
        const double step_s = to_seconds(*model) / scenario.algorithm.computing;
        const double work_s = to_seconds(scenario.workload.step());
        const double workers = scenario.cluster.workers;
        const double batches = scenario.workload.batches_of_step(scenario.cluster.workers);
        const std::string& column = question_.column;
        if (column == "step_time_s" || column == "model_step_time_s") return step_s;
        if (!(step_s > 0)) return std::nullopt;
        if (column == "speedup" && work_s > 0) return batches * work_s / step_s;
        if (column == "efficiency" && work_s > 0) return batches / workers * work_s / step_s;
        if (const auto batch = scenario.workload.charged_step_batch();
            column == "samples_per_s" && batch)
            return batches * static_cast<double>(*batch) / step_s;
        return std::nullopt;
    }

    const SolveQuestion& question_;
    SearchedPoints points_;
    Subject main_;
    Subject other_;
    Follows follows_;
};

Search search_of(const SolveQuestion& question, const VariedQuantity& varied) {
    const bool wide = varied.from > 0 && varied.to / varied.from > 10;
    if (question.scale == Scale::logarithmic && varied.from <= 0)
        refuse_search("--scale", "a logarithmic scale needs a range above 0; use --scale linear");
    const bool whole = varied.kind == QuantityKind::whole_number;
    return {question.scale.value_or(wide ? Scale::logarithmic : Scale::linear),
            whole ? 0 : question.tolerance, varied.step()};
}

std::vector<double> grid_of(const SolveQuestion& question, const VariedQuantity& varied,
                            const Search& search) {
    const bool whole = varied.kind == QuantityKind::whole_number;
    const double there_are = varied.to - varied.from + 1;
    const std::size_t usual = whole && there_are <= static_cast<double>(most_whole_numbers)
                                  ? most_whole_numbers
                                  : usual_grid;
    std::vector<double> grid =
        search_grid(varied.from, varied.to, question.grid.value_or(usual), search);
    return whole ? with_powers_of_two(std::move(grid)) : grid;
}

bool nothing_but_gaps(const Changes& found) {
    return !found.closest.has_value();
}

}  // namespace

VariedQuantity check_question(const SolveQuestion& question) {
    check_column(question.column);
    check_target(question);
    VariedQuantity varied = read_varied_quantity(question.vary);
    for (const std::string& setting : question.settings)
        if (at_or_below(path_of(setting), varied.path))
            refuse_search("--set " + path_of(setting),
                          "is also varied by --vary; remove one of the two");
    return varied;
}

std::vector<std::string> solve_warnings(const SolveQuestion& question,
                                        const ScenarioText& scenario) {
    const VariedQuantity varied = check_question(question);
    const Comparison comparison(question, scenario, varied, {});
    (void)comparison.check_ends(varied);
    return comparison.warnings({varied.from, varied.to});
}

std::optional<UnsureRange> unsure_range(const Solution& solution) {
    if (!solution.at_low || !solution.at_high) return std::nullopt;
    std::optional<UnsureRange> range;
    for (const Sample& low : solution.at_low->samples) {
        const auto high = std::ranges::find(solution.at_high->samples, low.x, &Sample::x);
        if (high == solution.at_high->samples.end() || !low.at.left || !low.at.right ||
            !high->at.left || *low.at.left >= *low.at.right || *high->at.left <= *low.at.right)
            continue;
        if (!range) range = UnsureRange{low.x, low.x};
        range->last = low.x;
    }
    return range;
}

Solution solve(const SolveQuestion& question, const ScenarioText& scenario,
               const Evaluate& evaluate) {
    Solution solution;
    VariedQuantity& varied = solution.varied;
    varied = check_question(question);
    Comparison comparison(question, scenario, varied, evaluate);
    if (comparison.check_ends(varied)) varied.kind = QuantityKind::whole_number;
    solution.search = search_of(question, varied);
    solution.grid = grid_of(question, varied, solution.search);
    solution.other_varies = comparison.other_varies();

    solution.found = find_changes(
        solution.grid,
        [&](const std::vector<double>& values) {
            return comparison.sides(values, solution.why_gap);
        },
        solution.search);
    Changes predicted = find_changes(
        solution.grid,
        [&](const std::vector<double>& values) { return comparison.predicted_sides(values); },
        solution.search);
    if (!nothing_but_gaps(predicted)) solution.closed_form = std::move(predicted);
    solution.ran = comparison.ran(solution.found.samples);
    if (comparison.has_interval(solution.ran)) {
        const auto found_at = [&](bool is_high) {
            return find_changes(
                solution.grid,
                [&](const std::vector<double>& values) {
                    return comparison.sides_at_end(values, is_high);
                },
                solution.search);
        };
        solution.at_low = found_at(false);
        solution.at_high = found_at(true);
    }
    solution.points = comparison.points().size();
    solution.kept = comparison.points().kept();
    return solution;
}

}  // namespace paceline
