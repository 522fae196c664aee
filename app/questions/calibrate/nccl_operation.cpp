// Which operation a run of nccl-tests measured.
//
// Since June 2025 nccl-tests print the program's name above the table. Before, three things tell
// it:
//
//   busbw / algbw     all-reduce 2 (n-1) / n; reduce-scatter, all-gather and all-to-all (n-1) / n;
//                     broadcast, reduce and sendrecv 1 (doc/PERFORMANCE.md)
//   redop and root    sum of what reduces and of sendrecv; a root of what has one
//   #wrong in place   N/A of all-to-all and sendrecv, which have no form in place
//
// Both bandwidths are rounded, so a row gives an interval of their quotient. Before June 2020 algbw
// of all-gather and reduce-scatter was that of one block, and the quotient n-1.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/json/config_error.hpp"
#include "app/questions/calibrate/nccl_tests.hpp"

namespace paceline {

namespace {

enum class NcclShare : std::uint8_t { twice_others, others, all };

struct NcclProgram {
    std::string_view program;
    std::string_view operation;  // empty: paceline does not simulate it
    NcclShare share;
    bool reduces;  // the column redop has an operation
    bool rooted;
    bool in_place;  // #wrong in place is a number
};

constexpr auto nccl_programs = std::to_array<NcclProgram>({
    {"all_reduce_perf", "all-reduce", NcclShare::twice_others, true, false, true},
    {"reduce_scatter_perf", "reduce-scatter", NcclShare::others, true, false, true},
    {"all_gather_perf", "all-gather", NcclShare::others, false, false, true},
    {"alltoall_perf", "all-to-all", NcclShare::others, false, false, false},
    {"broadcast_perf", "broadcast", NcclShare::all, false, true, true},
    {"reduce_perf", "reduce", NcclShare::all, true, true, true},
    {"sendrecv_perf", "send", NcclShare::all, true, false, false},
    {"alltoallv_perf", "", NcclShare::others, false, false, false},
    {"gather_perf", "", NcclShare::others, false, true, true},
    {"scatter_perf", "", NcclShare::others, false, true, true},
    {"hypercube_perf", "", NcclShare::all, false, false, true},
});

struct Quotient {
    double least = 0;
    double most = std::numeric_limits<double>::infinity();

    [[nodiscard]] bool may_be(double value) const {
        return least <= value * (1 + 1e-9) && value <= most * (1 + 1e-9);
    }
};

// Returns half a unit of a number's last place: 0.005 of "12.34", 50 of "1.2e+03".
double half_unit(std::string_view word) {
    const std::size_t e = std::min(word.find_first_of("eE"), word.size());
    const std::size_t point = std::min(word.find('.'), e);
    std::int64_t exponent = point == e ? 0 : -static_cast<std::int64_t>(e - point - 1);
    if (e < word.size()) {
        std::string_view digits = word.substr(e + 1);
        if (digits.starts_with('+')) digits.remove_prefix(1);
        exponent += whole_in(digits).value_or(0);
    }
    return positive_in(fmt::format("5e{}", exponent - 1)).value_or(0);
}

// Returns what all rows allow busbw / algbw to be.
Quotient quotient_of(const NcclRun& run) {
    Quotient quotient;
    for (const NcclRow& row : run.rows) {
        const auto algbw = positive_in(row.algbw);
        const auto busbw = positive_in(row.busbw);
        if (!algbw || !busbw || *algbw <= half_unit(row.algbw)) continue;
        const double below = half_unit(row.algbw);
        const double about = half_unit(row.busbw);
        quotient.least = std::max(quotient.least, (*busbw - about) / (*algbw + below));
        quotient.most = std::min(quotient.most, (*busbw + about) / (*algbw - below));
    }
    return quotient;
}

bool agrees(const NcclRun& run, const NcclProgram& program, const Quotient& quotient, int ranks) {
    const double others = static_cast<double>(ranks - 1) / ranks;
    switch (program.share) {
        case NcclShare::twice_others:
            return quotient.may_be(2 * others);
        case NcclShare::others: {
            const bool may_be_of_blocks = !run.has_column("redop") || !run.has_column("root");
            return quotient.may_be(others) ||
                   (may_be_of_blocks && program.operation != "all-to-all" &&
                    quotient.may_be(ranks - 1));
        }
        case NcclShare::all:
            return quotient.may_be(1);
    }
    return false;
}

bool has_columns_of(const NcclRun& run, const NcclProgram& program) {
    const NcclRow& row = run.rows.front();
    const bool old = !run.has_column("redop") || !run.has_column("root");
    if (old) {  // each program had columns of its own
        const bool shows_redop = program.reduces || program.operation == "all-to-all";
        if (program.operation == "send") return !run.has_column("redop") && !run.has_column("root");
        if (run.has_column("redop") != shows_redop || run.has_column("root") != program.rooted)
            return false;
        return !run.has_column("redop") || program.reduces == !row.redop.empty();
    }
    const bool reduces = !row.redop.empty() && row.redop != "none";
    if (reduces != program.reduces || row.rooted != program.rooted) return false;
    const auto checked = [](std::string_view wrong) { return !wrong.empty() && wrong != "N/A"; };
    const auto tells =
        std::ranges::find_if(run.rows, [&](const NcclRow& each) { return checked(each.wrong); });
    return tells == run.rows.end() || checked(tells->wrong_in_place) == program.in_place;
}

const NcclProgram* program_named(std::string_view name) {
    const auto* const found = std::ranges::find(nccl_programs, name, &NcclProgram::program);
    return found == nccl_programs.end() ? nullptr : &*found;
}

std::string line_of(std::size_t line) {
    return fmt::format("line {}", line);
}

NcclOperation inferred_operation(const std::string& file, const NcclRun& run) {
    constexpr std::string_view fix =
        "write the program's name on a line above the table, as nccl-tests do since 2025: "
        "# Collective test starting: all_reduce_perf";
    const auto ranks = run.rank_count();
    if (!ranks)
        throw ConfigError(
            file, line_of(run.header_line),
            fmt::format("neither the program nor its ranks are named above the table; {}", fix));
    const Quotient quotient = quotient_of(run);
    std::vector<std::string_view> may_be;
    for (const NcclProgram& program : nccl_programs)
        if (!program.operation.empty() && has_columns_of(run, program) &&
            agrees(run, program, quotient, *ranks))
            may_be.push_back(program.program);
    if (may_be.size() == 1) return {program_named(may_be.front())->operation, true};
    throw ConfigError(
        file, line_of(run.header_line),
        may_be.empty()
            ? fmt::format("paceline knows no program of nccl-tests that prints these columns with "
                          "busbw / algbw from {:.3g} to {:.3g} of {} ranks; {}",
                          quotient.least, quotient.most, *ranks, fix)
            : fmt::format("by its columns this may be {}; {}", fmt::join(may_be, " or "), fix));
}

}  // namespace

std::string_view nccl_program_in(std::string_view text) {
    std::string_view longest;
    for (const NcclProgram& each : nccl_programs)
        for (std::size_t at = text.find(each.program); at != std::string_view::npos;
             at = text.find(each.program, at + 1)) {
            const char before = at == 0 ? ' ' : text[at - 1];
            const bool is_part = before == '_' || (before >= 'a' && before <= 'z');
            if (!is_part && each.program.size() > longest.size()) longest = each.program;
        }
    return longest;
}

NcclOperation nccl_operation(const std::string& file, const NcclRun& run) {
    const std::string_view name = run.program.empty() ? run.mentioned : run.program;
    if (name.empty()) return inferred_operation(file, run);
    const NcclProgram* program = program_named(nccl_program_in(name));
    if (program == nullptr || program->operation.empty())
        throw ConfigError(
            file, line_of(run.line),
            fmt::format("is of {}; paceline compares all_reduce_perf, all_gather_perf, "
                        "reduce_scatter_perf, broadcast_perf, reduce_perf, alltoall_perf "
                        "and sendrecv_perf",
                        one_line(name, 40)));
    const auto ranks = run.rank_count();
    const Quotient quotient = quotient_of(run);
    if (ranks && !agrees(run, *program, quotient, *ranks))
        throw ConfigError(
            file, line_of(run.header_line),
            fmt::format(
                "busbw / algbw is from {:.3g} to {:.3g}, which {} does not print of the {} ranks "
                "listed above: give the whole output of one program, run without "
                "NCCL_TESTS_SPLIT",
                quotient.least, quotient.most, program->program, *ranks));
    return {program->operation, false};
}

}  // namespace paceline
