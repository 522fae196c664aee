// Tables of the OSU micro-benchmarks of MPI:
//
//   # OSU MPI-CUDA Allreduce Latency Test v7.5
//   # Datatype: MPI_FLOAT.
//   # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
//   1024                   14.83             13.20             17.02        1000
//
//   osu_latency         half of a round trip: one message one way
//   osu_bw              a rate: 64 messages are in flight before the receiver answers. The largest
//                       size is taken as one send of 64 of them, whose time has one latency in so
//                       much; of smaller sizes the rate is one of messages
//   osu_allreduce, osu_bcast, osu_reduce, osu_reduce_scatter    size is that of the whole vector
//   osu_allgather, osu_alltoall    size is that of a block; the vector has one for each rank
//
// The time of a collective is the mean over the ranks. Ranks of a broadcast or a reduce are done at
// different times, so there the time of the last one is taken where --full has printed it.
//
// No file says how many ranks there were. A line "# ranks: 16" above a table says it, and
// "# machines: 4"; whoever measures writes them. A block is of no use without the first.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/questions/calibrate/log_lines.hpp"
#include "app/questions/calibrate/tool_readers.hpp"

namespace paceline {

namespace {

constexpr std::int64_t osu_window = 64;
constexpr std::int64_t most_osu_ranks = 1'000'000;

enum class OsuKind : std::uint8_t { latency, bandwidth, vector, rooted, block };

struct OsuTest {
    std::string_view title;
    std::string_view operation;
    OsuKind kind;
};

constexpr auto osu_tests = std::to_array<OsuTest>({
    {"Latency Test", "send", OsuKind::latency},
    {"Bandwidth Test", "send", OsuKind::bandwidth},
    {"Allreduce Latency Test", "all-reduce", OsuKind::vector},
    {"Reduce_scatter Latency Test", "reduce-scatter", OsuKind::vector},
    {"Broadcast Latency Test", "broadcast", OsuKind::rooted},
    {"Reduce Latency Test", "reduce", OsuKind::rooted},
    {"Allgather Latency Test", "all-gather", OsuKind::block},
    {"All-to-All Personalized Exchange Latency Test", "all-to-all", OsuKind::block},
});

constexpr std::string_view osu_taken =
    "paceline compares osu_latency, osu_bw, osu_allreduce, osu_bcast, osu_reduce, "
    "osu_reduce_scatter, "
    "osu_allgather and osu_alltoall";

// Returns the columns of "# Size       Avg Latency(us)   Min Latency(us)".
std::vector<std::string_view> osu_columns(std::string_view text) {
    std::vector<std::string_view> columns;
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        if (text.empty()) return columns;
        const std::size_t end = std::min({text.find("  "), text.find('\t'), text.size()});
        columns.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

class OsuLog {
  public:
    explicit OsuLog(std::string file) : file_(std::move(file)) {}

    void read(const LogLine& line) {
        if (line.text.starts_with('#'))
            read_comment(line);
        else if (in_table_)
            read_row(line);
    }

    MeasuredCollectives measured() {
        end_table();
        MeasuredCollectives measured{.tool = "OSU"};
        measured.rows = std::move(rows_);
        measured.left_out = left_out_.texts();
        return measured;
    }

  private:
    void read_comment(const LogLine& line) {
        const std::string_view text = line.text.substr(1);
        const std::vector<std::string_view> words = words_of_line(text);
        if (words.empty()) return;
        if (words.front() == "OSU")
            begin_test(line, words);
        else if (words.front() == "Size" && test_ != nullptr)
            begin_table(line, text);
        else if (words.front() == "ranks:")
            ranks_ = count_in(line, words);
        else if (words.front() == "machines:")
            machines_ = count_in(line, words);
    }

    int count_in(const LogLine& line, const std::vector<std::string_view>& words) {
        const auto count = words.size() == 2 ? whole_in(words[1]) : std::nullopt;
        if (!count || *count < 1 || *count > most_osu_ranks)
            throw ConfigError(
                file_, place(line.number),
                fmt::format("\"{}\" needs a number from 1 to {}, as in \"# ranks: 16\"",
                            one_line(line.text, 60), most_osu_ranks));
        return static_cast<int>(*count);
    }

    // OSU MPI-CUDA Allreduce Latency Test v7.5
    void begin_test(const LogLine& line, const std::vector<std::string_view>& words) {
        end_table();
        std::string title;
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (i == 1 && words[i].starts_with("MPI")) continue;
            title += title.empty() ? "" : " ";
            title += words[i];
            if (words[i] == "Test") break;
        }
        const auto* const found = std::ranges::find(osu_tests, title, &OsuTest::title);
        test_ = found == osu_tests.end() ? nullptr : &*found;
        if (title == "Bi-Directional Bandwidth Test")
            left_out_.add(
                "osu_bibw is left out, because it adds up both directions; measure one with osu_bw",
                place(line.number));
        else if (test_ == nullptr)
            left_out_.add(fmt::format("\"{}\" is left out; {}", one_line(title, 60), osu_taken),
                          place(line.number));
    }

    void begin_table(const LogLine& line, std::string_view text) {
        const auto has = [&](std::string_view word) {
            return text.find(word) != std::string_view::npos;
        };
        const bool is_rate = test_->kind == OsuKind::bandwidth;
        if (is_rate ? !has("MB/s") : !has("(us)"))
            throw ConfigError(file_, place(line.number),
                              fmt::format("the column after Size is not {}",
                                          is_rate ? "Bandwidth (MB/s)" : "Latency(us)"));
        const std::vector<std::string_view> columns = osu_columns(text);
        const auto last = std::ranges::find_if(
            columns, [](std::string_view column) { return column.starts_with("Max Lat"); });
        const bool takes_last = test_->kind == OsuKind::rooted && last != columns.end();
        column_ = takes_last ? static_cast<std::size_t>(last - columns.begin()) : 1;
        if (test_->kind == OsuKind::rooted && !takes_last)
            left_out_.add(
                fmt::format("the time of this {} is the mean over the ranks; with --full the time "
                            "of the last rank is taken",
                            test_->operation),
                place(line.number));
        if (test_->operation == "send" && !machines_)
            left_out_.add(
                "taken as from one machine to another; the file does not say where the two "
                "processes were",
                place(line.number));
        in_table_ = true;
    }

    void read_row(const LogLine& line) {
        const std::vector<std::string_view> words = words_of_line(line.text);
        const auto size = whole_in(words.front());
        if (!size) return;  // what another program printed
        const auto number = words.size() > column_ ? positive_in(words[column_]) : std::nullopt;
        if (!number)
            left_out_.add("the row has no number greater than 0", place(line.number));
        else if (words.back() == "Fail")
            left_out_.add("the values were not those expected (Fail)", place(line.number));
        else if (*size == 0)
            left_out_.add("size is 0, so nothing is sent", place(line.number));
        else if (test_->operation == "send" && machines_ == 1)
            left_out_.add("both processes were on one machine, so no network was measured",
                          place(line.number));
        else if (test_->kind == OsuKind::block && !ranks_)
            left_out_.add(
                fmt::format("size is that of one rank's block, and the file does not say how many "
                            "ranks there were; write \"# ranks: 16\" on a line above the table",
                            test_->operation),
                place(line.number));
        else
            add_row(line, *size, *number);
    }

    void add_row(const LogLine& line, std::int64_t size, double number) {
        MeasuredCollective row{.where = fmt::format("{}, line {}", file_, line.number),
                               .operation = std::string(test_->operation),
                               .bytes = size,
                               .ranks = ranks_,
                               .machines = machines_,
                               .seconds = number * 1e-6};
        const bool is_send = test_->operation == "send";
        if (is_send) row.ranks = 2;
        std::int64_t blocks = 1;
        if (test_->kind == OsuKind::block) blocks = *ranks_;
        if (test_->kind == OsuKind::bandwidth) blocks = osu_window;
        if (size > std::numeric_limits<std::int64_t>::max() / blocks)
            return left_out_.add("size is too large", place(line.number));
        row.bytes *= blocks;
        if (test_->kind == OsuKind::bandwidth) {
            row.seconds = static_cast<double>(row.bytes) / (number * 1e6);
            return keep_larger(line, std::move(row));
        }
        rows_.push_back(std::move(row));
    }

    void keep_larger(const LogLine& line, MeasuredCollective row) {
        constexpr std::string_view why =
            "of osu_bw only the largest size is used; rates of smaller messages measure the "
            "messages, not the network";
        if (largest_ && largest_->first.bytes >= row.bytes)
            return left_out_.add(why, place(line.number));
        if (largest_) left_out_.add(why, place(largest_->second));
        largest_.emplace(std::move(row), line.number);
    }

    void end_table() {
        in_table_ = false;
        if (largest_) rows_.push_back(std::move(largest_->first));
        largest_.reset();
    }

    static std::string place(std::size_t line) { return fmt::format("line {}", line); }

    std::string file_;
    LeftOut left_out_{};
    std::vector<MeasuredCollective> rows_{};
    const OsuTest* test_ = nullptr;  // of the table that is read; null: it is left out
    bool in_table_ = false;
    std::size_t column_ = 1;
    std::optional<int> ranks_{};
    std::optional<int> machines_{};
    std::optional<std::pair<MeasuredCollective, std::size_t>>
        largest_{};  // of osu_bw, and its line
};

}  // namespace

bool is_of_osu(std::string_view text) {
    return text.find("# OSU ") != std::string_view::npos;
}

MeasuredCollectives read_osu(const std::string& file, std::string_view text) {
    OsuLog log(file);
    for (const LogLine& line : lines_of_log(text)) log.read(line);
    MeasuredCollectives measured = log.measured();
    if (measured.rows.empty())
        throw ConfigError(
            file, "",
            measured.left_out.empty()
                ? "has no row of a table of the OSU micro-benchmarks; give all that the "
                  "program printed"
                : fmt::format("no row can be used; {}", measured.left_out.front()));
    return measured;
}

}  // namespace paceline
