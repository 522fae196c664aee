#include "app/study/kept_points.hpp"

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "app/host/files.hpp"
#include "app/study/point_file.hpp"

namespace paceline {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view journal_ending = ".points";
constexpr std::size_t journal_digits = 16;
constexpr std::string_view point_ending = ".point";  // up to 0.2.0: a file for each point
constexpr std::size_t point_digits = 32;

bool is_name(std::string_view name, std::size_t digits, std::string_view ending) {
    return name.size() == digits + ending.size() && name.ends_with(ending) &&
           name.find_first_not_of("0123456789abcdef") == digits;
}

bool is_journal(const fs::path& file) {
    return is_name(file.filename().string(), journal_digits, journal_ending);
}

bool is_point(const fs::path& file) {
    return is_name(file.filename().string(), point_digits, point_ending);
}

}  // namespace

KeptPoints::KeptPoints(fs::path folder) : folder_(std::move(folder)) {
    prepare_folder(folder_);
}

void KeptPoints::read_journals() {
    has_read_ = true;
    const std::size_t first = journals_.size();
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder_, error); !error && entry != fs::end(entry);
         entry.increment(error)) {
        std::error_code no_time;
        if (is_journal(entry->path()))
            journals_.push_back({entry->path(), entry->last_write_time(no_time)});
    }
    std::ranges::sort(
        journals_.begin() + static_cast<std::ptrdiff_t>(first), journals_.end(), {},
        [](const Journal& journal) { return std::tie(journal.written, journal.file); });
    for (std::size_t journal = first; journal < journals_.size(); ++journal) read_journal(journal);
}

void KeptPoints::read_journal(std::size_t journal) {
    try {
        const auto text =
            read_own_file(journals_[journal].file, most_journal_bytes + most_point_bytes);
        if (!text) return;
        for (const PointText& point : points_in(*text))
            add(std::string(point.key), {journal, point.offset, point.size});
    } catch (const UnusableFile& unusable) {
        warnings_.push_back(
            fmt::format("{}; its points will run again; remove it", unusable.what()));
    }
}

void KeptPoints::add(const std::string& key, const Place& place) {
    places_.emplace_hint(places_.lower_bound(key), key, place);
}

std::string KeptPoints::text_at(const Place& place) {
    try {
        return read_own_file(journals_[place.journal].file, place.size, place.offset).value_or("");
    } catch (const UnusableFile&) {  // something else has taken its place
        return "";
    }
}

std::optional<PointResult> KeptPoints::find(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    if (!has_read_) read_journals();
    const auto [begin, end] = places_.equal_range(key);
    for (auto found = begin; found != end; ++found) {
        const Place place = found->second;
        const std::string text = text_at(place);
        std::optional<PointResult> result = read_point(text, key);
        if (!result) continue;
        if (journals_[place.journal].written < fs::file_time_type::clock::now() - age_of_renewal)
            renew(key, text);
        return result;
    }
    return std::nullopt;
}

// The result is there, and is worth more than its renewal.
void KeptPoints::renew(const std::string& key, std::string_view text) {
    try {
        append(key, text);
    } catch (const OutputError&) {  // such as a full disk
        return;
    }
}

void KeptPoints::keep(const std::string& key, const PointResult& result) {
    const std::string text = point_text(key, result);
    const std::scoped_lock lock(mutex_);
    append(key, text);
}

void KeptPoints::append(const std::string& key, std::string_view text) {
    if (!own_ || own_->size() >= most_journal_bytes) {
        own_.emplace(folder_, journal_ending);
        own_place_ = journals_.size();
        journals_.push_back({own_->path(), fs::file_time_type::clock::now()});
    }
    const std::size_t offset = own_->size();
    own_->append(text);
    if (has_read_) add(key, {own_place_, offset, text.size()});
}

void KeptPoints::forget_unused(fs::file_time_type before) const {
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder_, error); !error && entry != fs::end(entry);
         entry.increment(error)) {
        std::error_code ignored;
        if (entry->symlink_status(ignored).type() != fs::file_type::regular) continue;
        const auto written = entry->last_write_time(ignored);
        if (ignored) continue;
        if ((is_journal(entry->path()) && written < before - age_of_renewal) ||
            (is_point(entry->path()) && written < before))
            fs::remove(entry->path(), ignored);
    }
}

std::vector<std::string> KeptPoints::warnings() const {
    const std::scoped_lock lock(mutex_);
    return warnings_;
}

}  // namespace paceline
