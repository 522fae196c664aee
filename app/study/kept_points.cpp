#include "app/study/kept_points.hpp"

#include <chrono>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "app/host/output.hpp"
#include "app/study/point_file.hpp"

namespace paceline {

namespace fs = std::filesystem;

KeptPoints::KeptPoints(fs::path folder) : folder_(std::move(folder)) {
    prepare_folder(folder_);
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error))
        if (entry.path().extension() == ".tmp" && entry.last_write_time(error) < long_ago)
            fs::remove(entry.path(), error);
}

fs::path KeptPoints::file(const std::string& key) const {
    return folder_ / (key + ".point");
}

std::optional<PointResult> KeptPoints::find(const std::string& key) const {
    std::ifstream in(file(key), std::ios::binary);
    if (!in) return std::nullopt;
    return read_point(std::string(std::istreambuf_iterator<char>(in), {}), key);
}

void KeptPoints::keep(const std::string& key, const PointResult& result) {
    const std::scoped_lock lock(mutex_);
    // Another process may store the same point, so each uses its own temporary name.
    const fs::path temporary = folder_ / fmt::format("{}.{}.tmp", key, ::getpid());
    write_file(temporary, point_text(key, result), Flush::no);
    std::error_code error;
    fs::rename(temporary, file(key), error);
    if (error)
        throw OutputError(
            fmt::format("{}: cannot be renamed: {}", temporary.string(), error.message()));
}

}  // namespace paceline
