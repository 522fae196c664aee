// A number that was measured, as `paceline diagnose --measured` takes it.
//
//   step=4s                            a step of the scenario (step_time_s)
//   nodes=1:step=520ms                 a step on one node
//   devices=1:step=480ms               a step on one device alone
//   nodes=1:which=slowest:step=0.9s    each node was measured alone, and this is the slowest
//   throughput=120                     samples per second of all workers together
//   workload.batch=64:step=2s          any path of the scenario before it
//   all-reduce=256MiB:nodes=2:step=1s  one collective on the scenario's cluster
//
// Parts are separated by ":" outside of brackets and quotes. One part is a column of results.csv,
// or "step" or "throughput"; durations may have units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/scenario/sweep.hpp"

namespace paceline {

struct MeasuredNumber {
    std::string text;       // as it was given
    Settings settings{};    // of its point, after those of the scenario
    std::string operation;  // of a collective; empty: it is a step of the scenario
    std::int64_t bytes = 0;
    std::optional<int> nodes{};  // if it says so
    bool one_device = false;
    bool slowest_alone = false;  // of all nodes, each measured alone
    std::string column;
    double value = 0;
};

/// Returns whether a column of results.csv is a time.
bool is_of_seconds(std::string_view column);

/// Returns seconds as "350ms".
std::string seconds_shown(double seconds);

/// Returns a value of a column, with its unit if it is a time.
std::string in_words(double value, std::string_view column);

/// Throws ConfigError, which names the option, what is wrong and what would be right.
MeasuredNumber read_measured_number(const std::string& text);

}  // namespace paceline
