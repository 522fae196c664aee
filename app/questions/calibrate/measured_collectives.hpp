// Times of collectives that other tools have measured: the output of nccl-tests, of the OSU
// micro-benchmarks, of iperf3 --json, and collectives in a trace of torch.profiler.
//
// (formats, units and what each reader leaves out go here)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

struct MeasuredCollective {
    std::string where;      // for messages: "all_reduce.log, line 31"
    std::string operation;  // "all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce",
                            // "all-to-all" or "send" (from one machine to another)
    std::int64_t bytes =
        0;  // of the vector that a rank contributes or gets, as workload.gradient has it
    std::optional<int> ranks{};     // devices that took part; empty: the file does not say
    std::optional<int> machines{};  // on so many hosts; empty: the file does not say
    double seconds = 0;             // of one operation
};

struct MeasuredCollectives {
    std::string tool;                        // "nccl-tests"
    std::vector<MeasuredCollective> rows{};  // one or more
    std::vector<std::string> left_out{};     // what was seen and not taken, and why; a line each
};

/// Reads the output of one of these tools, which is recognized by its content. Returns nothing if it
/// is of none of them. Throws ConfigError, with file and line, if it is of one and cannot be used.
std::optional<MeasuredCollectives> read_measured_collectives(const std::string& file,
                                                             std::string_view text);

}  // namespace paceline
