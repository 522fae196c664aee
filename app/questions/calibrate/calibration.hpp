// What `paceline calibrate` is asked, and what it answers. calibrate.hpp says what that means.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/questions/asked_points.hpp"
#include "app/questions/calibrate/measured_rows.hpp"
#include "app/questions/varied_quantity.hpp"

namespace paceline {

inline constexpr double usual_level = 0.9;
inline constexpr double usual_noise = 0.05;
inline constexpr std::size_t most_free_constants = 8;
inline constexpr std::size_t draws_of_a_testbed = 12;

struct CalibrationQuestion {
    ScenarioText scenario;
    Settings settings{};
    Picks picks{};
    std::vector<std::string> free;  // "path=from..to"
    std::vector<MeasuredFile> measured;
    double level = usual_level;  // of the intervals
    double noise = usual_noise;  // of a row, where the rows cannot tell
    /// Sees what is going on, in words.
    std::function<void(const std::string& line)> tell{};
};

struct FittedConstant {
    VariedQuantity range;
    double value = 0;  // of six digits
    double low = 0;    // of the interval; where it is open, the end of the range
    double high = 0;
    bool low_is_open = false;
    bool high_is_open = false;
};

struct FittedRow {
    std::string name;
    std::string column;
    double measured = 0;
    std::optional<double> before;  // with the scenario's own constants
    double fitted = 0;
    bool is_misfit = false;  // it is too far off for the others

    [[nodiscard]] double error() const { return fitted / measured - 1; }
};

/// A measurement that would tell constants apart.
struct NextMeasurement {
    std::string what;    // "an all-reduce of 8 B on 2 nodes"
    double seconds = 0;  // that it would take, as the fit predicts it
    double device_seconds = 0;
};

/// A combination of constants that the rows leave open.
struct OpenCombination {
    struct Share {
        std::string path;
        double factor;  // what the constant is multiplied by, along the combination
    };
    std::vector<Share> shares;  // the first is multiplied by 1.1
    double most_change = 0;     // what that changes a row by at most, relative
    std::optional<NextMeasurement> next{};
    std::size_t tried = 0;  // measurements that were looked at
};

struct Calibration {
    std::string title;  // of the scenario
    std::string file;
    std::string base;  // JSON: the scenario, resolved as far as its sweep allows
    double level = usual_level;
    std::vector<FittedConstant> constants;
    std::vector<std::vector<double>> draws{};  // of the constants, which the rows allow as well
    std::vector<FittedRow> rows;
    double noise = 0;  // standard deviation of a residual
    bool noise_is_default = false;
    std::vector<OpenCombination> open;
    std::vector<std::string> notes{};  // what the measured files had besides
};

}  // namespace paceline
