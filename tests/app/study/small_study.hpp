// Dense SGD with 1 ms per gradient and messages of 4 bytes: almost nothing but computing.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline {

struct SmallStudy {
    SmallStudy(int nodes, int iterations)
        : file(folder.write("small.json", fmt::format(R"({{
              "cluster": {{"nodes": {},
                           "fabric": {{"kind": "star", "link": {{"bandwidth": "10Gbps"}}}}}},
              "workload": {{"gradient": "4B", "step_time": "1ms"}},
              "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": {}}}}})",
                                                      nodes, iterations))) {}

    [[nodiscard]] Metrics run(const std::vector<std::string>& settings) const {
        return run_point(read_study(file, settings).points.front().scenario, nullptr);
    }

    TemporaryFolder folder;
    std::string file;
};

}  // namespace paceline
