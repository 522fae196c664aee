// A small study that trains, and a published net that it stands in for.
#pragma once

#include <string>
#include <vector>

#include "app/study/study_file.hpp"
#include "tests/app/studies/run_points.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline {

/// Adds "published.json" to TrainingStudy, a net of one matrix of 100000 entries, which is
/// compressed, and a bias of 50, which is not; and the same cluster without training.
struct PublishedStudy : TrainingStudy {
    std::string profile = folder.write("published.json", R"({
      "name": "published", "title": "two tensors", "source": "made for a test", "sample": "image",
      "layers": [{"name": "fc", "macs": 100000,
                  "tensors": [{"name": "weight", "shape": [200, 500]},
                              {"name": "bias", "shape": [50]}]}],
      "throughput": []
    })");
    std::string timing = folder.write("timing.json", R"({
      "cluster": {"nodes": 4, "fabric": {"kind": "star",
                                         "link": {"bandwidth": "1Gbps", "latency": "5us"}}},
      "workload": {"profile": "published.json", "step_time": "30ms", "batch": 8},
      "algorithm": {"kind": "dense"}, "stop": {"iterations": 6}
    })");

    /// Replaces the published net by a net of 210 parameters.
    static constexpr const char* stands_in = R"(workload={
        "model": {"kind": "mlp", "hidden": []},
        "data": {"kind": "gaussian-mixture", "train": 256, "test": 64}, "batch": 8,
        "stand_in_for": {"profile": "published.json", "step_time": "30ms"}})";

    [[nodiscard]] Metrics stand_in(std::vector<std::string> settings) const {
        settings.insert(settings.begin(), stands_in);
        return run(settings);
    }
    /// Runs the published net itself, without training.
    [[nodiscard]] Metrics timing_only(const std::vector<std::string>& settings) const {
        return run_points(read_study(timing, settings), 1).front().metrics;
    }
};

}  // namespace paceline
