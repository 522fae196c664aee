#include "app/study/kept_points.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/host/files.hpp"
#include "app/host/output.hpp"
#include "app/study/point_file.hpp"

namespace paceline {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view ending = ".point";
constexpr std::size_t key_digits = 32;

bool is_point(const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    std::error_code error;
    return name.size() == key_digits + ending.size() && name.ends_with(ending) &&
           entry.symlink_status(error).type() == fs::file_type::regular;
}

// A day's precision spares most writing. A folder that may only be read serves as well.
void renew(const fs::path& file) {
    const auto now = fs::file_time_type::clock::now();
    std::error_code ignored;
    if (fs::last_write_time(file, ignored) < now - std::chrono::days(1))
        fs::last_write_time(file, now, ignored);
}

}  // namespace

KeptPoints::KeptPoints(fs::path folder) : folder_(std::move(folder)) {
    prepare_folder(folder_);
}

fs::path KeptPoints::file(const std::string& key) const {
    return folder_ / fmt::format("{}{}", key, ending);
}

std::optional<PointResult> KeptPoints::find(const std::string& key) {
    try {
        const auto text = read_own_file(file(key), most_point_bytes);
        if (!text) return std::nullopt;
        std::optional<PointResult> result = read_point(*text, key);
        if (result) renew(file(key));
        return result;
    } catch (const UnusableFile& unusable) {
        const std::scoped_lock lock(mutex_);
        warnings_.push_back(fmt::format("{}; its point is run again", unusable.what()));
        return std::nullopt;
    }
}

void KeptPoints::keep(const std::string& key, const PointResult& result) {
    const std::scoped_lock lock(mutex_);
    std::error_code error;
    if (fs::symlink_status(file(key), error).type() == fs::file_type::directory) {
        warnings_.push_back(fmt::format("{}: is a folder, so its point is not kept; remove it",
                                        file(key).string()));
        return;
    }
    write_file(file(key), point_text(key, result), Flush::no);
}

void KeptPoints::forget_unused(fs::file_time_type before) const {
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder_, error); !error && entry != fs::end(entry);
         entry.increment(error)) {
        std::error_code ignored;
        const auto used = entry->last_write_time(ignored);
        if (!ignored && used < before && is_point(*entry)) fs::remove(entry->path(), ignored);
    }
}

std::vector<std::string> KeptPoints::warnings() const {
    const std::scoped_lock lock(mutex_);
    return warnings_;
}

}  // namespace paceline
