#include "app/host/available_memory.hpp"

#include <cstdint>
#include <fstream>
#include <string>

namespace paceline {

Bytes available_memory() {
    std::ifstream in("/proc/meminfo");
    std::string name;
    std::int64_t kibibytes = 0;
    std::string unit;
    while (in >> name >> kibibytes) {
        std::getline(in, unit);
        if (name == "MemAvailable:") return kibibytes * Bytes{1024};
    }
    return {};
}

}  // namespace paceline
