// What a run of nccl-tests has printed, before it is known which operation it measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/questions/calibrate/log_lines.hpp"

namespace paceline {

struct NcclRow {
    std::size_t line = 0;
    std::int64_t size = 0;
    std::string_view redop;  // empty or "none" of operations that do not reduce
    bool rooted = false;     // the column root is not -1
    std::string_view time;   // out of place, as the next three
    std::string_view algbw;
    std::string_view busbw;
    std::string_view wrong;
    std::string_view wrong_in_place;
};

struct NcclRun {
    std::size_t line = 0;      // where it begins
    std::string_view program;  // "all_reduce_perf"; empty: not printed
    std::string_view
        mentioned;  // the program that a command above the table names; empty: none does
    std::set<std::int64_t> ranks{};
    std::set<std::string_view> hosts{};
    std::set<std::string_view> groups{};
    bool repeats_ranks = false;               // a rank stands twice: several tests ran at once
    std::int64_t aggregated = 1;              // -m
    std::vector<std::string_view> columns{};  // of the header line; empty: there is no table
    std::size_t header_line = 0;
    std::vector<NcclRow> rows{};

    /// Returns how many ranks there were, if all are listed.
    [[nodiscard]] std::optional<int> rank_count() const;
    [[nodiscard]] bool has_column(std::string_view name) const;
};

struct NcclOperation {
    std::string_view name;  // "all-reduce"
    bool inferred = false;  // from the columns, as no program is named
};

/// Returns the name of a program of nccl-tests without path and suffix: "all_reduce_perf" of
/// "./build/all_reduce_perf_mpi"; empty if a text has none.
std::string_view nccl_program_in(std::string_view text);

/// Returns the operation that a run measured: by its program's name, else by the columns and
/// busbw / algbw. Throws ConfigError if the run does not tell, if paceline does not simulate it, or
/// if busbw / algbw is not that of this operation and so many ranks.
NcclOperation nccl_operation(const std::string& file, const NcclRun& run);

}  // namespace paceline
