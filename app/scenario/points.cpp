#include "app/scenario/points.hpp"

#include <memory>

namespace paceline {

Points::Points(std::vector<Point> points) : size_(points.size()) {
    const auto all = std::make_shared<const std::vector<Point>>(std::move(points));
    read_ = [all](std::size_t index) { return (*all)[index]; };
    resolve_ = [all](std::size_t index) { return (*all)[index].resolved; };
    locate_ = [all](std::size_t index) {
        return Position{(*all)[index].number, (*all)[index].choice};
    };
}

Points Points::only(std::vector<std::size_t> indices) const {
    const std::size_t size = indices.size();
    const auto which = std::make_shared<const std::vector<std::size_t>>(std::move(indices));
    return {size, [which, read = read_](std::size_t index) { return read((*which)[index]); },
            [which, resolve = resolve_](std::size_t index) { return resolve((*which)[index]); },
            [which, locate = locate_](std::size_t index) { return locate((*which)[index]); }};
}

}  // namespace paceline
