#include "app/study/link_records.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "analysis/measures/csv.hpp"
#include "app/host/content_hash.hpp"
#include "app/host/output.hpp"
#include "app/json/config_error.hpp"
#include "app/run/results.hpp"

namespace paceline {

namespace fs = std::filesystem;

namespace {

const std::string end_of_part = "end ";
constexpr std::size_t piece = std::size_t{1} << 20U;  // bytes written at once

Duration read_interval(const std::string& text) {
    if (text.empty()) return Duration::zero();
    const auto refuse = [&](const std::string& problem) {
        throw ConfigError("command line", "--links-interval", problem);
    };
    Duration interval{};
    try {
        interval = parse_duration(text);
    } catch (const UnitError& error) {
        refuse(error.what());
    }
    if (interval == Duration::zero()) refuse("must be above 0, such as 10ms");
    return interval;
}

// Prints a time in seconds, exactly.
std::string exact_seconds(Time time) {
    constexpr std::int64_t ps_per_s = 1'000'000'000'000;
    const std::int64_t ps = time.time_since_epoch().count();
    std::string text = fmt::format("{}.{:012}", ps / ps_per_s, ps % ps_per_s);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

// Collects text and passes it on in large pieces.
class Pieces {
  public:
    explicit Pieces(const std::function<void(std::string_view)>& sink) : sink_(sink) {}

    void add(std::string_view text) {
        text_ += text;
        if (text_.size() > piece) flush();
    }
    void flush() {
        sink_(text_);
        text_.clear();
    }

  private:
    const std::function<void(std::string_view)>& sink_;
    std::string text_;
};

std::string joined(const std::vector<std::string>& fields) {
    std::string text;
    for (const std::string& field : fields) text += field + ",";
    return text;
}

}  // namespace

LinkRecords::LinkRecords(const std::string& interval) : interval_(read_interval(interval)) {}

void LinkRecords::write_into(const fs::path& folder) {
    folder_ = folder / "links";
    prepare_folder(folder_);
}

fs::path LinkRecords::part(const std::string& key) const {
    return folder_ / (interval_ == Duration::zero()
                          ? key + ".part"
                          : fmt::format("{}-{}ps.part", key, interval_.count()));
}

// Reads the lines of a part, and returns whether it is whole. `visit` gets each row.
bool LinkRecords::read_part(const std::string& key,
                            const std::function<void(const std::string& row)>& visit) const {
    const fs::path file = part(key);
    std::error_code ignored;
    if (!fs::is_regular_file(fs::symlink_status(file, ignored))) return false;
    std::ifstream in(file, std::ios::binary);
    ContentHash hash;
    hash.add(key);
    std::string line;
    while (std::getline(in, line)) {
        if (line.starts_with(end_of_part)) return line == end_of_part + hash.text();
        visit(line);
        hash.add(line);
        hash.add("\n");
    }
    return false;
}

bool LinkRecords::has(const std::string& key) const {
    return read_part(key, [](const std::string&) {});
}

Metrics LinkRecords::run(const std::string& key, std::size_t point,
                         const std::function<Metrics(const Observer& observer)>& run) {
    std::optional<LinkIntervals> intervals;
    std::function<std::string(LinkId)> name;
    Observer observer;
    observer.begins = [&](const Machine& machine) {
        intervals.emplace(machine.network, interval_);
        name = machine.link_name;
        observer.network = intervals->observer();
    };
    observer.ends = [&](const Cluster&) {
        intervals->finish();
        note_width(point, intervals->width());
    };
    Metrics metrics = run(observer);
    if (metrics.outcome != "stopped") write_part(key, *intervals, name);
    return metrics;
}

void LinkRecords::write_part(const std::string& key, const LinkIntervals& intervals,
                             const std::function<std::string(LinkId link)>& name) {
    const std::scoped_lock lock(mutex_);
    write_file_in_pieces(part(key), [&](const std::function<void(std::string_view)>& sink) {
        Pieces pieces(sink);
        ContentHash hash;
        hash.add(key);
        std::optional<LinkId> link;
        std::string field;
        intervals.for_each([&](const LinkInterval& one) {
            if (link != one.link) field = csv_field(name(one.link));
            link = one.link;
            const std::string row =
                fmt::format("{},{},{},{},{:.6g},{:.0f}\n", field, exact_seconds(one.from),
                            exact_seconds(one.to), one.bytes, one.utilization, one.capacity_bps);
            pieces.add(row);
            hash.add(row);
        });
        pieces.add(end_of_part + hash.text() + "\n");
        pieces.flush();
    });
}

namespace {

std::vector<std::string> name_of(const Study& study, std::size_t index) {
    const Point point = study.points[index];
    return point_fields(study.axes, {point.number, point.choice, point.scenario.algorithm.label,
                                     point.scenario.cluster.nodes});
}

}  // namespace

void LinkRecords::write_csv(const StudyRuns& runs, bool complete) const {
    const Study& study = runs.study();
    const fs::path file = folder_.parent_path() / "links.csv";
    write_file_in_pieces(file, [&](const std::function<void(std::string_view)>& sink) {
        Pieces pieces(sink);
        pieces.add(joined(point_headers(study.axes)) +
                   "link,from_s,to_s,bytes,utilization,capacity_bps\n");
        for (std::size_t point = 0; point < runs.points(); ++point) {
            const std::string key = runs.key(point);
            std::error_code ignored;
            if (!fs::exists(part(key), ignored)) continue;  // not run, or ended by an error
            std::string prefix;
            const bool whole = read_part(key, [&](const std::string& row) {
                if (prefix.empty()) prefix = joined(name_of(study, point));
                pieces.add(prefix);
                pieces.add(row);
                pieces.add("\n");
            });
            if (!whole)
                throw OutputError(fmt::format(
                    "{}: has changed since its point was run; run the study again with --resume",
                    part(key).string()));
        }
        pieces.flush();
    });
    if (!complete) return;
    std::error_code ignored;
    for (std::size_t point = 0; point < runs.points(); ++point)
        fs::remove(part(runs.key(point)), ignored);
    fs::remove(folder_, ignored);  // unless it has parts of another study
}

void LinkRecords::note_width(std::size_t point, Duration width) {
    if (interval_ == Duration::zero() || width == interval_) return;
    const std::scoped_lock lock(mutex_);
    warnings_[point] =
        fmt::format("links.csv: the run of point {} is too long for intervals of {}; used {}",
                    point, to_string(interval_), to_string(width));
}

std::vector<std::string> LinkRecords::warnings() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [point, text] : warnings_) all.push_back(text);
    return all;
}

}  // namespace paceline
