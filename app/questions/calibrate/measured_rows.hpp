// Rows of what was measured: which point it was measured at, and which columns of results.csv.
//
// A table in CSV has a header. A column is one of three things:
//
//   a column of results.csv     what was measured, above 0: a number, or for seconds a duration
//                               ("4s"); empty where it was not
//   a path of the scenario      its value there, as --set takes it; empty: as the scenario has it.
//                               Where the path, or its end, is that of an axis of the sweep, one of
//                               the axis' labels. "nodes" is cluster.nodes
//   name                        what to call the row
//
// Lines that begin with "#" are comments. What other tools print (measured_collectives.hpp) is a
// row for each collective: one step of the algorithm "collective" on the scenario's cluster, with
// as many machines and devices as the file says, and otherwise as many as the scenario has. If the
// scenario's own algorithm is that operation, it stays, with its method.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/questions/calibrate/measured_points.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

struct MeasuredFile {
    std::string name;
    std::string text;
};

struct MeasuredValue {
    std::string column;
    double value;
};

struct MeasuredRow {
    std::string name;  // "measured.csv, line 3", or what the row says
    ScenarioText scenario;
    Settings settings{};  // of this row, after those of the scenario
    Picks picks{};
    std::vector<MeasuredValue> values{};
    bool of_a_collective =
        false;  // it is another workload: constants of the scenario's are not its
};

/// Appends what was left out, and why, to `notes`. Throws ConfigError.
std::vector<MeasuredRow> read_measured_rows(const MeasuredFile& file, const MeasuredScenario& about,
                                            std::vector<std::string>& notes);

}  // namespace paceline
