#include "app/questions/calibrate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/fit/least_squares.hpp"
#include "analysis/fit/what_is_told.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_paths.hpp"
#include "app/json/schema.hpp"
#include "app/questions/calibrate/next_measurement.hpp"
#include "app/scenario/sweep.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr int digits = 6;  // of a fitted constant

[[noreturn]] void refuse(const std::string& path, std::string problem) {
    throw ConfigError("command line", path, Fault{std::move(problem)});
}

bool is_logarithmic(const VariedQuantity& range) {
    return range.from > 0;
}

// Rounding must not lead beyond the range.
double constant_at(const VariedQuantity& range, double t) {
    const double value =
        is_logarithmic(range)
            ? range.from * elementary::exp(t * elementary::log(range.to / range.from))
            : range.from + t * (range.to - range.from);
    return std::clamp(value, range.from, range.to);
}

// The same, as a testbed has it.
double rounded_at(const VariedQuantity& range, double t) {
    return std::clamp(range.rounded(constant_at(range, t), digits), range.from, range.to);
}

std::vector<VariedQuantity> read_ranges(const CalibrationQuestion& question) {
    if (question.free.empty())
        refuse("--free",
               "does not name a constant; give a path and its range, such as "
               "cluster.fabric.link.bandwidth=1Gbps..40Gbps");
    if (question.free.size() > most_free_constants)
        refuse("--free", fmt::format("names {} constants; at most {}", question.free.size(),
                                     most_free_constants));
    std::vector<VariedQuantity> ranges;
    for (const std::string& text : question.free) {
        const VariedQuantity range = read_varied_quantity(text, "--free");
        const std::string where = "--free " + range.path;
        if (const Fault fault = path_fault(range.path); !fault.problem.empty())
            throw ConfigError("command line", where, fault);
        if (!leads_to("cluster", range.path) && !leads_to("workload", range.path))
            refuse(where, "is not in the cluster or the workload, which are what a testbed holds");
        for (const VariedQuantity& other : ranges)
            if (leads_to(other.path, range.path) || leads_to(range.path, other.path))
                refuse(where, fmt::format("is already free with {}", other.path));
        for (const std::string& setting : question.settings)
            if (const std::string path = setting.substr(0, setting.find('='));
                leads_to(range.path, path))
                refuse("--set " + path, "is also varied by --free; remove one of the two");
        ranges.push_back(range);
    }
    return ranges;
}

// The rows, and what the simulator predicts for them.
class Predictions {
  public:
    // Throws ConfigError if a row is refused with the constants in the middle of their ranges.
    Predictions(const CalibrationQuestion& question, std::vector<VariedQuantity> ranges,
                std::vector<MeasuredRow> rows, const Evaluate& evaluate)
        : ranges_(std::move(ranges)),
          rows_(std::move(rows)),
          points_(question.scenario.file, question.scenario.sources, evaluate) {
        const std::vector<double> middle =
            values_at(VectorXd::Constant(Index(ranges_.size()), 0.5));
        for (const MeasuredRow& row : rows_) {
            Settings settings = row.settings;
            for (std::size_t j = 0; j < ranges_.size(); ++j)
                if (takes(row.of_a_collective, ranges_[j]))
                    settings.push_back(ranges_[j].setting(middle[j]));
            resolved_.push_back(blaming_row(row, middle, [&] {
                return Json::parse(read_whole_periods(row.scenario, settings, row.picks).resolved);
            }));
        }
    }

    [[nodiscard]] std::vector<double> values_at(const VectorXd& place) const {
        std::vector<double> values;
        for (std::size_t j = 0; j < ranges_.size(); ++j)
            values.push_back(constant_at(ranges_[j], place[Index(j)]));
        return values;
    }

    void put(Json& scenario, const std::vector<double>& constants, bool collective) const {
        for (std::size_t j = 0; j < ranges_.size(); ++j)
            if (takes(collective, ranges_[j]))
                put_at(scenario, ranges_[j].path, ranges_[j].written(constants[j]), command_line,
                       "--free " + ranges_[j].path);
    }

    // Throws ConfigError if a row refuses an end of a range, the others in their middle.
    void check_ends() const {
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (Index j = 0; j < Index(ranges_.size()); ++j)
                for (const double t : {0.0, 1.0}) {
                    VectorXd end = VectorXd::Constant(Index(ranges_.size()), 0.5);
                    end[j] = t;
                    (void)point_of(i, values_at(end));
                }
    }

    // Returns each measured value's prediction with these constants. Throws ConfigError if there is
    // none.
    std::vector<std::vector<double>> at(const std::vector<std::vector<double>>& all) {
        std::vector<Candidate> candidates;
        for (const std::vector<double>& constants : all)
            for (std::size_t i = 0; i < rows_.size(); ++i)
                candidates.push_back({point_of(i, constants), {}});
        points_.run(candidates);
        std::vector<std::vector<double>> found;
        std::size_t next = 0;
        for (const std::vector<double>& constants : all) {
            std::vector<double>& values = found.emplace_back();
            for (const MeasuredRow& row : rows_) {
                const Candidate& candidate = candidates[next++];
                for (const MeasuredValue& value : row.values)
                    values.push_back(predicted(row, value.column, candidate, constants));
            }
        }
        return found;
    }

    // Returns the same with the scenario's own constants; nothing where there is none.
    std::vector<std::optional<double>> before() {
        std::vector<Candidate> candidates;
        for (const MeasuredRow& row : rows_) {
            try {
                candidates.push_back(
                    {read_whole_periods(row.scenario, row.settings, row.picks), {}});
            } catch (const ConfigError& error) {
                candidates.push_back({std::nullopt, error.problem()});
            }
        }
        points_.run(candidates);
        std::vector<std::optional<double>> found;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (const MeasuredValue& value : rows_[i].values)
                found.push_back(points_.column(value.column, candidates[i]));
        return found;
    }

    std::vector<VectorXd> residuals(const std::vector<VectorXd>& places) {
        std::vector<std::vector<double>> all;
        for (const VectorXd& place : places) all.push_back(values_at(place));
        std::vector<VectorXd> residuals;
        for (const std::vector<double>& values : at(all)) {
            VectorXd& r = residuals.emplace_back(Index(values.size()));
            Index i = 0;
            for (const MeasuredRow& row : rows_)
                for (const MeasuredValue& value : row.values) {
                    r[i] = elementary::log(values[static_cast<std::size_t>(i)] / value.value);
                    ++i;
                }
        }
        return residuals;
    }

    [[nodiscard]] const std::vector<MeasuredRow>& rows() const { return rows_; }
    AskedPoints& points() { return points_; }

  private:
    // A collective has a workload of its own.
    [[nodiscard]] static bool takes(bool collective, const VariedQuantity& constant) {
        return !collective || leads_to("cluster", constant.path);
    }

    [[nodiscard]] std::string named(const std::vector<double>& constants) const {
        std::vector<std::string> settings;
        for (std::size_t j = 0; j < ranges_.size(); ++j)
            settings.push_back(ranges_[j].setting(constants[j]));
        return fmt::format("{}", fmt::join(settings, ", "));
    }

    template <class Read>
    std::invoke_result_t<Read> blaming_row(const MeasuredRow& row,
                                           const std::vector<double>& constants, Read read) const {
        try {
            return read();
        } catch (const ConfigError& error) {
            constexpr std::string_view set = "--set ";  // rows set what is free
            const bool of_a_setting = error.path().starts_with(set);
            throw ConfigError(
                row.name, of_a_setting ? error.path().substr(set.size()) : error.path(),
                fmt::format("is invalid with {}: {}", named(constants), error.problem()));
        }
    }

    [[nodiscard]] Point point_of(std::size_t i, const std::vector<double>& constants) const {
        return blaming_row(rows_[i], constants, [&] {
            Json scenario = resolved_[i];
            put(scenario, constants, rows_[i].of_a_collective);
            return read_resolved(scenario, rows_[i].scenario);
        });
    }

    [[nodiscard]] double predicted(const MeasuredRow& row, const std::string& column,
                                   const Candidate& candidate,
                                   const std::vector<double>& constants) const {
        const auto value = points_.column(column, candidate);
        if (value && *value > 0) return *value;
        throw ConfigError(row.name, column,
                          fmt::format("has no prediction with {}: {}", named(constants),
                                      value ? "it is 0" : points_.why_empty(column, candidate)));
    }

    std::vector<VariedQuantity> ranges_;
    std::vector<MeasuredRow> rows_;
    std::vector<Json> resolved_;  // of each row, with constants that are replaced
    AskedPoints points_;
};

void check_rows(const std::vector<MeasuredRow>& rows, const std::vector<VariedQuantity>& ranges) {
    for (const MeasuredRow& row : rows)
        for (const std::string& setting : row.settings)
            for (const VariedQuantity& range : ranges)
                if (const std::string path = setting.substr(0, setting.find('='));
                    leads_to(range.path, path))
                    throw ConfigError(
                        row.name, path,
                        fmt::format("sets what --free {} varies; remove one of the two",
                                    range.path));
}

std::vector<FittedConstant> constants_of(const std::vector<VariedQuantity>& ranges,
                                         const Profiles& profiles) {
    std::vector<FittedConstant> constants;
    for (std::size_t j = 0; j < ranges.size(); ++j) {
        const ProfileInterval& interval = profiles.intervals[j];
        const auto value = [&](double t) { return rounded_at(ranges[j], t); };
        constants.push_back({ranges[j], value(profiles.fit.at[Index(j)]), value(interval.low),
                             value(interval.high), interval.low_is_open, interval.high_is_open});
    }
    return constants;
}

// Returns what a weak direction does to the constants: the factors with which the one that moves
// most is multiplied by 1.1. Constants that hardly move are left out.
OpenCombination combination_of(const std::vector<FittedConstant>& constants,
                               const WeakDirection& direction) {
    std::vector<std::pair<double, std::size_t>> moves;  // of logarithms, or relative to the range
    for (std::size_t j = 0; j < constants.size(); ++j) {
        const VariedQuantity& range = constants[j].range;
        double side = 1;
        if (is_logarithmic(range))
            side = elementary::log(range.to / range.from);
        else if (constants[j].value > 0)
            side = (range.to - range.from) / constants[j].value;
        moves.emplace_back(direction.along[Index(j)] * side, j);
    }
    std::ranges::sort(
        moves, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
    OpenCombination combination;
    const double scale = elementary::log(1.1) / moves.front().first;
    for (const auto& [move, j] : moves)
        if (std::abs(move) > 0.1 * std::abs(moves.front().first))
            combination.shares.push_back({constants[j].range.path, elementary::exp(move * scale)});
    combination.most_change = direction.moves * std::abs(scale);
    return combination;
}

std::vector<OpenCombination> open_combinations(const CalibrationQuestion& question,
                                               const Calibration& calibration, const Fit& fit,
                                               double rise, Predictions& predictions) {
    std::vector<OpenCombination> open;
    const std::vector<WeakDirection> weak = weak_directions(fit, rise);
    if (weak.empty()) return open;
    if (question.tell) question.tell("looking for a measurement that would settle it");
    const std::vector<PossibleMeasurement> possible = possible_measurements(
        question, Json::parse(calibration.base), fit,
        [&](Json& scenario, const VectorXd& place, bool collective) {
            predictions.put(scenario, predictions.values_at(place), collective);
        },
        predictions.points());
    for (const WeakDirection& direction : weak) {
        OpenCombination& one = open.emplace_back(combination_of(calibration.constants, direction));
        one.next = cheapest_that_tells(possible, direction, rise);
        one.tried = possible.size();
    }
    return open;
}

std::vector<FittedRow> fitted_rows(const Calibration& calibration, const Fit& fit,
                                   const Noise& noise, Predictions& predictions) {
    std::vector<double> constants;
    for (const FittedConstant& constant : calibration.constants)
        constants.push_back(constant.value);
    const std::vector<double> fitted = predictions.at({constants}).front();
    const std::vector<std::optional<double>> before = predictions.before();
    const std::vector<std::size_t> far = misfits(fit, noise);
    std::vector<FittedRow> rows;
    for (const MeasuredRow& row : predictions.rows())
        for (const MeasuredValue& value : row.values) {
            const std::size_t i = rows.size();
            rows.push_back({row.name, value.column, value.value, before[i], fitted[i],
                            std::ranges::find(far, i) != far.end()});
        }
    return rows;
}

// Returns the scenario's own constants in the cube; the middle where it does not state one.
VectorXd anchor_of(const std::vector<VariedQuantity>& ranges, const Json& base) {
    VectorXd anchor = VectorXd::Constant(Index(ranges.size()), 0.5);
    for (std::size_t j = 0; j < ranges.size(); ++j) {
        const VariedQuantity& range = ranges[j];
        const std::optional<double> own = range.stated_in(base);
        if (!own || *own < range.from || *own > range.to) continue;
        anchor[Index(j)] = is_logarithmic(range) ? elementary::log(*own / range.from) /
                                                       elementary::log(range.to / range.from)
                                                 : (*own - range.from) / (range.to - range.from);
    }
    return anchor;
}

std::string title_of(const ScenarioText& scenario) {
    const Json json = parse_json(scenario.text, scenario.file);
    return json.is_object() && json.contains("title") && json["title"].is_string()
               ? json["title"].get<std::string>()
               : std::string();
}

}  // namespace

Calibration calibrate(const CalibrationQuestion& question, const Evaluate& evaluate) {
    const std::vector<VariedQuantity> ranges = read_ranges(question);
    const MeasuredScenario about{question.scenario, question.settings, question.picks};
    Calibration calibration;
    calibration.file = question.scenario.file;
    calibration.level = question.level;
    const Json base = base_of(about);
    calibration.base = base.dump();
    calibration.title = title_of(question.scenario);
    std::vector<MeasuredRow> rows;
    for (const MeasuredFile& file : question.measured)
        for (MeasuredRow& row : read_measured_rows(file, about, calibration.notes))
            rows.push_back(std::move(row));
    check_rows(rows, ranges);
    Predictions predictions(question, ranges, std::move(rows), evaluate);
    predictions.check_ends();

    const LeastSquares problem{
        Index(ranges.size()),
        [&](const std::vector<VectorXd>& places) { return predictions.residuals(places); },
        [&](std::size_t start, double sum) {
            if (question.tell)
                question.tell(fmt::format("start {}: rows are off by {:.1f} %", start + 1,
                                          100 * std::sqrt(sum)));
        },
        anchor_of(ranges, base)};
    Fit first = fit(problem);
    if (question.tell) question.tell("intervals");
    const auto rise = [&](const Fit& at) {
        return rise_of(noise_of(at, question.noise), question.level);
    };
    const Profiles found = profiles(problem, std::move(first), rise);
    const Noise noise = noise_of(found.fit, question.noise);
    calibration.noise = noise.share;
    calibration.noise_is_default = noise.is_default;
    calibration.constants = constants_of(ranges, found);
    for (const VectorXd& place : draws_of(found.fit, noise, draws_of_a_testbed)) {
        std::vector<double>& draw = calibration.draws.emplace_back();
        for (std::size_t j = 0; j < ranges.size(); ++j)
            draw.push_back(rounded_at(ranges[j], place[Index(j)]));
    }
    calibration.rows = fitted_rows(calibration, found.fit, noise, predictions);
    calibration.open =
        open_combinations(question, calibration, found.fit, rise(found.fit), predictions);
    return calibration;
}

}  // namespace paceline
