#include "app/kept_points.hpp"

#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "app/output.hpp"
#include "app/point_file.hpp"

namespace paceline {

namespace fs = std::filesystem;

KeptPoints::KeptPoints(fs::path folder) : folder_(std::move(folder)) {
    prepare_folder(folder_);
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error))
        if (entry.path().extension() == ".tmp") fs::remove(entry.path(), error);
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
    write_file(file(key), point_text(key, result), Flush::no);
}

}  // namespace paceline
