#include "app/scenario/cluster/link_traces.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "app/json/number_table.hpp"

namespace paceline {

namespace {

constexpr double most_mbps = 1e9;
constexpr double most_trace_seconds = 9e6;  // 104 days, within the clock's range
constexpr auto trace_columns = std::to_array<NumberColumn>({
    {"time_s", "a time in seconds", most_trace_seconds},
    {"up_mbps", "a bandwidth in Mbps", most_mbps},
    {"down_mbps", "a bandwidth in Mbps", most_mbps},
});

Bandwidth megabits(double rate) {
    return {std::llround(1e6 * rate)};
}

// One way of a link: each rate holds from its time on, and all again after the period.
struct OneWay {
    struct Row {
        Duration at;
        Bandwidth rate;
    };
    std::vector<Row> rows;  // the first at 0
    Duration period{};

    void add(Duration at, Bandwidth rate) {
        if (rows.empty() || rows.back().rate != rate) rows.push_back({at, rate});
    }
};

// Goes through a way, again and again.
class WayWalk {
  public:
    explicit WayWalk(const OneWay& way) : way_(&way) {}

    [[nodiscard]] Bandwidth rate() const { return way_->rows[row_].rate; }
    [[nodiscard]] Duration until() const {
        return sum(begin_, row_ + 1 < way_->rows.size() ? way_->rows[row_ + 1].at : way_->period);
    }
    void advance() {
        const Duration end = until();
        if (++row_ < way_->rows.size()) return;
        row_ = 0;
        begin_ = end;
    }

  private:
    const OneWay* way_;
    std::size_t row_ = 0;
    Duration begin_{};  // of this period
};

LinkTrace both_ways(const OneWay& up, const OneWay& down) {
    LinkTrace trace;
    trace.period = std::max(up.period, down.period);
    WayWalk out(up);
    WayWalk in(down);
    for (Duration at{}; at < trace.period; at = std::min(out.until(), in.until())) {
        while (out.until() <= at) out.advance();
        while (in.until() <= at) in.advance();
        const AccessBandwidth now{out.rate(), in.rate()};
        if (trace.rows.empty() || trace.rows.back().bandwidth != now)
            trace.rows.push_back({at, now});
    }
    return trace;
}

template <class Read>
LinkTrace trace_of(const TraceFiles& files, const Read& read) {
    const OneWay down = read(files.down);
    return both_ways(files.up ? read(*files.up) : down, down);
}

constexpr double bits_of_packet = 8 * 1500;
constexpr std::int64_t most_intervals = 10'000'000;

OneWay read_opportunities(const Place& place, Duration interval) {
    constexpr auto columns =
        std::to_array<NumberColumn>({{"ms", "a time in milliseconds", 1e3 * most_trace_seconds}});
    const NumberTable table = read_bare_table(place, columns);
    std::vector<Duration> packets;
    for (const NumberTable::Row& row : table.rows) {
        if (row.numbers[0] != std::floor(row.numbers[0]))
            table.refuse(row, fmt::format("{} is not a whole millisecond", row.numbers[0]));
        const Duration at = from_seconds(1e-3 * row.numbers[0]);
        if (!packets.empty() && at < packets.back())
            table.refuse(row, fmt::format("{} is before the previous line", to_string(at)));
        packets.push_back(at);
    }
    OneWay way{{}, packets.back()};
    if (way.period == Duration::zero())
        table.refuse(table.rows.back(),
                     "the trace wraps around at its last time, which must be above 0");
    if (way.period / interval >= most_intervals)
        table.refuse(table.rows.back(),
                     fmt::format("a trace of {} has more than {} intervals of {}; set a longer "
                                 "\"interval\"",
                                 to_string(way.period), most_intervals, to_string(interval)));
    std::size_t packet = 0;
    for (Duration begin{}; begin < way.period; begin = sum(begin, interval)) {
        const Duration end = std::min(sum(begin, interval), way.period);
        const std::size_t first = packet;
        while (packet < packets.size() && packets[packet] <= end) ++packet;
        const double bits = bits_of_packet * static_cast<double>(packet - first);
        way.add(begin, megabits(1e-6 * bits / to_seconds(end - begin)));
    }
    return way;
}

OneWay read_cooked(const Place& place) {
    constexpr auto columns =
        std::to_array<NumberColumn>({{"time", "a time in seconds", most_trace_seconds},
                                     {"rate", "a bandwidth in Mbps", most_mbps}});
    const NumberTable table = read_bare_table(place, columns);
    if (table.rows.size() < 2)
        table.refuse(table.rows.front(),
                     "a trace needs two lines or more; the first one begins it");
    OneWay way;
    for (std::size_t i = 1; i < table.rows.size(); ++i) {
        const NumberTable::Row& row = table.rows[i];
        const Duration from = from_seconds(table.rows[i - 1].numbers[0]);
        const Duration to = from_seconds(row.numbers[0]);
        if (to <= from)
            table.refuse(row, fmt::format("{} is not later than the previous line, {}",
                                          to_string(to), to_string(from)));
        way.add(i == 1 ? Duration::zero() : from, megabits(row.numbers[1]));
        way.period = to;
    }
    return way;
}

}  // namespace

LinkTrace read_mahimahi(const TraceFiles& files, Duration interval) {
    return trace_of(files,
                    [interval](const Place& place) { return read_opportunities(place, interval); });
}

LinkTrace read_pensieve(const TraceFiles& files) {
    return trace_of(files, &read_cooked);
}

LinkTrace read_link_trace(const Place& place) {
    const NumberTable table = read_number_table(place, trace_columns);
    LinkTrace trace;
    for (const NumberTable::Row& row : table.rows) {
        const Duration at = from_seconds(row.numbers[0]);
        if (trace.rows.empty() && at != Duration::zero())
            table.refuse(row, "the first row's time must be 0");
        if (!trace.rows.empty() && at <= trace.rows.back().at)
            table.refuse(row, fmt::format("{} is not later than the previous row, {}",
                                          to_string(at), to_string(trace.rows.back().at)));
        trace.rows.push_back({at, {megabits(row.numbers[1]), megabits(row.numbers[2])}});
    }
    return trace;
}

}  // namespace paceline
