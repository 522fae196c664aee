#include "app/json/sources.hpp"

#include <fmt/format.h>

namespace paceline {

const AvailableMemory& Sources::memory() const {
    return *cache->once<AvailableMemory>("available memory", [&] { return available_memory(); });
}

Bytes AvailableMemory::room_for_data() const {
    constexpr std::int64_t shares = 4;
    constexpr Bytes otherwise{1 << 30};
    return bytes == Bytes{0} ? otherwise : Bytes{bytes.count / shares};
}

std::shared_ptr<DataSets> Sources::data_sets() const {
    return *cache->once<std::shared_ptr<DataSets>>(
        "data sets", [&] { return std::make_shared<DataSets>(memory().room_for_data()); });
}

std::string beside_free(Bytes need, const AvailableMemory& memory) {
    const auto gigabytes = [](Bytes bytes) { return static_cast<double>(bytes.count) * 1e-9; };
    return fmt::format("about {:.1f} GB of memory, and {:.1f} GB are free{}{}", gigabytes(need),
                       gigabytes(memory.bytes), memory.limit.empty() ? "" : " under ",
                       memory.limit);
}

std::string beside(std::string_view document, std::string_view name) {
    const std::size_t slash = document.rfind('/');
    if (slash == std::string_view::npos || name.starts_with('/')) return std::string(name);
    // The folder without the slashes at its end, which only the root needs.
    const std::size_t last = document.find_last_not_of('/', slash);
    std::string file(document.substr(0, last == std::string_view::npos ? 0 : last + 1));
    file += '/';
    file += name;
    return file;
}

}  // namespace paceline
