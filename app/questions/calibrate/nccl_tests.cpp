// The table that a program of nccl-tests prints:
//
//   # Collective test starting: all_reduce_perf                             since June 2025
//   # nThread 1 nGpus 1 minBytes 8 ... agg iters: 1 ...
//   #  Rank  0 Group  0 Pid  71 on  node-a device  0 [0000:07:00] NAME      Group since Sept 2022
//   #       size         count      type   redop    root     time   algbw   busbw  #wrong  ...
//        1048576        262144     float     sum      -1    85.31   12.29   21.51       0  ...
//
// Before August 2022 each program had columns of its own and "error" instead of #wrong. Taken are
// size and the time out of place, which is the mean over the ranks unless -a says otherwise. A file
// may hold several runs, one after another.
#include "app/questions/calibrate/nccl_tests.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/questions/calibrate/log_lines.hpp"
#include "app/questions/calibrate/tool_readers.hpp"
#include "sim/engine/read_decimal.hpp"

namespace paceline {

namespace {

bool begins_with_letter(std::string_view word) {
    const char c = word.empty() ? '\0' : word.front();
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns whether a whole word is a number, be it 0, "nan" or "inf".
bool is_number(std::string_view word) {
    double number = 0;
    const auto [end, error] = read_decimal(word, number);
    return error == std::errc{} && end == word.data() + word.size();
}

bool is_root(std::string_view word) {
    return word == "-1" || whole_in(word).has_value();
}

// Reads runs line by line.
class NcclLog {
  public:
    NcclLog(std::string file, LeftOut& left_out) : file_(std::move(file)), left_out_(left_out) {}

    void read(const LogLine& line) {
        if (line.text.starts_with('#'))
            read_comment(line);
        else if (!in_table_ || !read_row(line))
            if (const std::string_view named = nccl_program_in(line.text); !named.empty())
                mentioned_ = named;
    }

    [[nodiscard]] const std::vector<NcclRun>& runs() const { return runs_; }

  private:
    // Begins a run, unless the last one has only begun.
    void begin(const LogLine& line) {
        in_table_ = false;
        if (!runs_.empty() && runs_.back().columns.empty() && runs_.back().ranks.empty()) return;
        runs_.push_back({.line = line.number, .program = {}, .mentioned = mentioned_});
        mentioned_ = {};
    }

    NcclRun& current(const LogLine& line) {
        if (runs_.empty()) begin(line);
        return runs_.back();
    }

    void read_comment(const LogLine& line) {
        constexpr std::string_view starting = "Collective test starting:";
        const std::string_view text = line.text.substr(1);
        const std::vector<std::string_view> words = words_of_line(text);
        if (words.empty()) return;
        if (const std::size_t at = text.find(starting); at != std::string_view::npos) {
            begin(line);
            const std::vector<std::string_view> name =
                words_of_line(text.substr(at + starting.size()));
            if (!name.empty()) runs_.back().program = name.front();
        } else if (words.front() == "nThread") {
            begin(line);
            read_settings(line);
        } else if (words.front() == "Rank") {
            read_rank(line, words);
        } else if (words.front() == "size") {
            read_header(line, words);
        } else if (words.front() == "bytes" && words.size() > 1 && words[1] == "N") {
            throw ConfigError(file_, fmt::format("line {}", line.number),
                              "is output of nccl-tests from before 2019, which has other columns; "
                              "measure with a current version");
        } else if (words.front() == "Out" || words.front() == "Avg") {
            in_table_ = false;
        }
    }

    void read_settings(const LogLine& line) {
        constexpr std::string_view key = "agg iters:";
        const std::size_t at = line.text.find(key);
        if (at == std::string_view::npos) return;
        const std::vector<std::string_view> words =
            words_of_line(line.text.substr(at + key.size()));
        if (!words.empty()) runs_.back().aggregated = whole_in(words.front()).value_or(1);
    }

    // Rank 0 [Group 0] Pid 71 on node-a device 0 ...
    void read_rank(const LogLine& line, const std::vector<std::string_view>& words) {
        const auto on = std::ranges::find(words, std::string_view("on"));
        if (words.size() < 2 || words.end() - on < 2) return;
        const auto rank = whole_in(words[1]);
        if (!rank) return;
        if (!runs_.empty() && !runs_.back().columns.empty()) begin(line);
        NcclRun& run = current(line);
        if (!run.ranks.insert(*rank).second) run.repeats_ranks = true;
        run.hosts.insert(*(on + 1));
        if (words.size() > 3 && words[2] == "Group") run.groups.insert(words[3]);
    }

    void read_header(const LogLine& line, const std::vector<std::string_view>& words) {
        if (!current(line).columns.empty()) begin(line);
        NcclRun& run = runs_.back();
        if (run.mentioned.empty()) run.mentioned = std::exchange(mentioned_, {});
        run.columns = words;
        run.header_line = line.number;
        in_table_ = true;
        if (run.has_column("cputime") || !run.has_column("time"))
            throw ConfigError(
                file_, fmt::format("line {}", line.number),
                run.has_column("cputime")
                    ? "the times are of the processor (-C 1), which only launches "
                      "the operations; measure without -C"
                    : "has no column \"time\"; give the table as nccl-tests print it");
    }

    // Returns whether a line is a row, and not a warning or the rest of a row that one has cut.
    bool read_row(const LogLine& line) {
        NcclRun& run = runs_.back();
        const std::vector<std::string_view> words = words_of_line(line.text);
        const auto is_digits = [](std::string_view word) {
            return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
        };
        if (words.size() < 3 || !is_digits(words[0]) || !is_digits(words[1]) ||
            !begins_with_letter(words[2]))
            return false;
        NcclRow row;
        row.line = line.number;
        std::size_t next = 3;
        const auto take = [&] { return next < words.size() ? words[next++] : std::string_view(); };
        if (run.has_column("redop") && next < words.size() && begins_with_letter(words[next]))
            row.redop = take();
        if (run.has_column("root") && next < words.size() && is_root(words[next]))
            row.rooted = take() != "-1";
        row.time = take();
        row.algbw = take();
        row.busbw = take();
        row.wrong = take();
        const auto time = std::ranges::find(run.columns, std::string_view("time"));
        const auto again = std::find(time + 1, run.columns.end(), std::string_view("time"));
        if (again != run.columns.end())
            if (const auto index = next - 4 + static_cast<std::size_t>(again - time) + 3;
                index < words.size())
                row.wrong_in_place = words[index];
        const auto size = whole_in(words[0]);
        row.size = size.value_or(0);
        const std::string place = fmt::format("line {}", line.number);
        if (!size || !is_number(row.time) || !is_number(row.algbw) || !is_number(row.busbw))
            left_out_.add("the row is cut or mixed with another line", place);
        else if (row.size == 0)
            left_out_.add("size is 0, so nothing is sent", place);
        else if (!positive_in(row.time))
            left_out_.add("the out-of-place time is not a number greater than 0", place);
        else if (run.has_column("#wrong") && positive_in(row.wrong))
            left_out_.add("#wrong is not 0: the operation gave wrong values", place);
        else
            run.rows.push_back(row);
        return true;
    }

    std::string file_;
    LeftOut& left_out_;
    std::vector<NcclRun> runs_{};
    std::string_view mentioned_;
    bool in_table_ = false;
};

void refuse_unusable_run(const std::string& file, const NcclRun& run) {
    const auto refuse = [&](const std::string& problem) {
        throw ConfigError(file, fmt::format("line {}", run.header_line), problem);
    };
    if (run.groups.size() > 1)
        refuse(
            fmt::format("{} groups measured at the same time and shared the network; measure "
                        "without NCCL_TESTS_SPLIT",
                        run.groups.size()));
    if (run.repeats_ranks)
        refuse(
            "ranks are listed twice, so several tests ran at the same time; build nccl-tests with "
            "MPI=1, so that they form one");
    if (run.rank_count() == 1)
        refuse(
            "one rank alone measures no network; several processes are one test if nccl-tests are "
            "built with MPI=1");
    if (run.aggregated > 1)
        refuse(fmt::format("-m {} launched so many operations as one; measure with -m 1",
                           run.aggregated));
}

void add_nccl_rows(const std::string& file, const NcclRun& run, MeasuredCollectives& measured,
                   LeftOut& left_out) {
    refuse_unusable_run(file, run);
    const NcclOperation operation = nccl_operation(file, run);
    const std::string place = fmt::format("line {}", run.header_line);
    const auto ranks = run.rank_count();
    std::optional<int> machines;
    if (ranks) machines = static_cast<int>(run.hosts.size());
    if (operation.inferred)
        left_out.add(
            fmt::format("no program is named above the table; its columns and busbw / algbw are "
                        "those of {} over {} ranks",
                        operation.name, *ranks),
            place);
    if (!ranks)
        left_out.add("not all devices are listed, so ranks and machines are not known", place);
    if (operation.name == "send" && machines == 1)
        throw ConfigError(
            file, place,
            "sendrecv_perf ran on one machine, so no network was measured; measure over "
            "two or more");
    if (operation.name == "send")
        left_out.add(
            "each rank sends to the next one while it receives; taken as one message one way",
            place);
    for (const NcclRow& row : run.rows)
        measured.rows.push_back({.where = fmt::format("{}, line {}", file, row.line),
                                 .operation = std::string(operation.name),
                                 .bytes = row.size,
                                 .ranks = ranks,
                                 .machines = machines,
                                 .seconds = *positive_in(row.time) * 1e-6});
}

}  // namespace

std::optional<int> NcclRun::rank_count() const {
    if (ranks.empty() || *ranks.begin() != 0) return std::nullopt;
    if (*ranks.rbegin() != static_cast<std::int64_t>(ranks.size()) - 1) return std::nullopt;
    return static_cast<int>(ranks.size());
}

bool NcclRun::has_column(std::string_view name) const {
    return std::ranges::find(columns, name) != columns.end();
}

bool is_of_nccl_tests(std::string_view text) {
    const auto has = [&](std::string_view word) {
        return text.find(word) != std::string_view::npos;
    };
    return has("# nThread ") || has("# Collective test starting:") ||
           (has("out-of-place") && has("in-place") && has("algbw")) ||
           (has("\"nccl_version\"") && has("\"out_of_place\""));
}

MeasuredCollectives read_nccl_tests(const std::string& file, std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == text.find('{'))
        throw ConfigError(
            file, "",
            "is the JSON file of nccl-tests (-J); give the table that they print instead");
    LeftOut left_out;
    NcclLog log(file, left_out);
    for (const LogLine& line : lines_of_log(text)) log.read(line);
    MeasuredCollectives measured{.tool = "nccl-tests"};
    for (const NcclRun& run : log.runs())
        if (!run.rows.empty()) add_nccl_rows(file, run, measured, left_out);
    measured.left_out = left_out.texts();
    if (measured.rows.empty())
        throw ConfigError(
            file, "",
            measured.left_out.empty()
                ? "has no row of a table of nccl-tests; give all that the program printed"
                : fmt::format("no row can be used; {}", measured.left_out.front()));
    return measured;
}

}  // namespace paceline
