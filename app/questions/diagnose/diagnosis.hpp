// What `paceline diagnose` is asked, and what it answers. diagnose.hpp says what that means.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/scenario/study.hpp"

namespace paceline {

inline constexpr double usual_noise_of_a_number = 0.05;
inline constexpr double explained_within = 3;  // standard deviations of the noise

struct DiagnoseQuestion {
    ScenarioText scenario;
    Settings settings{};
    Picks picks{};
    std::vector<std::string> measured;  // as measured_number.hpp says
    double noise = usual_noise_of_a_number;
    bool advise = true;  // also look for what helps
    /// Sees what is going on, in words.
    std::function<void(const std::string& line)> tell{};
};

/// A number that was measured.
struct DiagnosedNumber {
    std::string text;
    std::string column;
    double measured = 0;
    std::optional<double> before;  // as the scenario says it
};

/// A cause, with the value that the numbers need.
struct NeededCause {
    std::string key;
    std::string name;
    std::string what;
    std::string value;               // in words; empty: it is there or not
    std::optional<double> number{};  // in bit/s, seconds or plain
    std::string usual{};             // which values are usual, and where that is from
    std::string path{};              // of the value in the scenario
};

/// One cause, or a pair, that was tried.
struct TriedCause {
    std::vector<NeededCause> causes;  // none: the scenario as it is
    double share = 0;                 // of the evidence of all that explain the numbers
    double farthest = 0;              // row, in standard deviations of the noise
    double compute = 1;               // factor on the times of gradients
    std::vector<double> predicted;    // of each number
    std::string patch{};              // JSON to merge into the scenario (RFC 7386) for it
};

/// What speeds up steps under a cause, as simulated.
struct Advice {
    std::string key;
    std::string what;
    std::string costs;
    double step_s = 0;
    double gain = 1;  // in samples per second, relative to the point with the cause
    std::optional<double> memory_gb{};  // of a device, if it changes
    std::string patch{};                // JSON to merge into the scenario that has the cause
};

/// Causes that neither the numbers nor any measurement that was tried can tell apart.
struct DiagnosedAnswer {
    std::vector<TriedCause> either;  // one or more, the most plausible first
    double share = 0;
    double step_s = 0;             // of the scenario with the first of them
    std::vector<Advice> advice{};  // the best first
    bool was_advised = false;

    [[nodiscard]] bool is_nothing() const { return either.front().causes.empty(); }
};

/// A cause that does not explain the numbers.
struct UnfitCause {
    std::string key;
    std::string name;
    std::string why;
};

/// A measurement that would tell answers apart.
struct TellingMeasurement {
    std::string what;
    std::string asked;  // for --measured, without the number
    double device_seconds = 0;
    std::vector<double> expected;  // with each answer that is in question, in base units
    std::string column;
};

struct Diagnosis {
    std::string title;
    std::string file;
    double noise = 0;
    std::optional<double> gradient_s;  // as a row on one machine sets it
    double stated_gradient_s = 0;
    std::vector<DiagnosedNumber> numbers;
    std::vector<DiagnosedAnswer> answers;  // of those that explain, the most plausible first
    bool are_pairs = false;                // no single cause explains the numbers
    std::vector<UnfitCause> unfit;         // tried, and it does not explain them
    std::vector<UnfitCause> impossible;    // the scenario cannot have it
    std::optional<TellingMeasurement> next{};
    std::size_t measurements_tried = 0;
    std::size_t points = 0;
};

}  // namespace paceline
