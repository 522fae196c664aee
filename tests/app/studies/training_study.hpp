// A small study that trains. Tests change its settings and run it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/scenario/study.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/run_points.hpp"

namespace paceline {

/// Four workers, an MLP of 258 parameters on 256 samples, six steps.
inline constexpr std::string_view small_training = R"({
  "cluster": {"nodes": 4, "fabric": {"kind": "star",
                                     "link": {"bandwidth": "1Gbps", "latency": "5us"}}},
  "workload": {"model": {"kind": "mlp", "hidden": [8]},
               "data": {"kind": "gaussian-mixture", "train": 256, "test": 64},
               "batch": 8, "step_time": "1ms"},
  "optimizer": {"learning_rate": 0.1},
  "algorithm": {"kind": "dense"},
  "measure": {"every": "2 iterations"},
  "stop": {"iterations": 6}
})";

struct TrainingStudy {
    TemporaryFolder folder;
    std::string file = folder.write("training.json", small_training);

    [[nodiscard]] Study read(const std::vector<std::string>& settings = {}) const {
        return read_study(file, settings);
    }
    [[nodiscard]] Scenario scenario(const std::vector<std::string>& settings = {}) const {
        return read(settings).points.front().scenario;
    }
    [[nodiscard]] Metrics run(const std::vector<std::string>& settings = {}) const {
        return run_points(read(settings), 1).front().metrics;
    }
};

/// Parses a CSV without quotes: maps the header's names to a row's fields. An empty name means that
/// a row has more fields than the header.
inline std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
    const auto fields = [](const std::string& line) {
        std::vector<std::string> found{""};
        for (const char c : line) {
            if (c == ',')
                found.emplace_back();
            else
                found.back() += c;
        }
        return found;
    };
    std::istringstream in(csv);
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> header = fields(line);
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(in, line)) {
        const std::vector<std::string> row = fields(line);
        rows.emplace_back();
        for (std::size_t i = 0; i < std::max(row.size(), header.size()); ++i)
            rows.back()[i < header.size() ? header[i] : ""] = i < row.size() ? row[i] : "missing";
    }
    return rows;
}

}  // namespace paceline
