#include "app/json/sources.hpp"

namespace paceline {

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
