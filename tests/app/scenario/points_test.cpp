#include "app/scenario/points.hpp"

#include <string>

#include <doctest/doctest.h>

namespace paceline::points_test {
namespace {

Point numbered(std::size_t number) {
    Point point;
    point.number = number;
    point.choice = {number, 2 * number};
    point.resolved = "of " + std::to_string(number);
    return point;
}

std::vector<std::size_t> numbers_of(const Points& points) {
    std::vector<std::size_t> numbers;
    for (const Point& point : points) numbers.push_back(point.number);
    return numbers;
}

TEST_CASE("points: an element is read when it is asked for, each time anew") {
    int reads = 0;
    const Points points{5,
                        [&](std::size_t index) {
                            ++reads;
                            return numbered(index + 10);
                        },
                        [](std::size_t index) { return std::to_string(index); },
                        [](std::size_t index) { return Position{index + 10, {index}}; }};
    CHECK(points.size() == 5);
    CHECK(points.position(3).number == 13);
    CHECK(points.resolved(3) == "3");
    CHECK(reads == 0);
    CHECK(points[3].number == 13);
    CHECK(points[3].number == 13);
    CHECK(reads == 2);
    CHECK(numbers_of(points) == std::vector<std::size_t>{10, 11, 12, 13, 14});
    CHECK(reads == 7);
}

TEST_CASE("points: a part has the elements that were named, with their own numbers") {
    const Points points{numbered(7), numbered(8), numbered(9)};
    const Points part = points.only({2, 0});
    CHECK(numbers_of(part) == std::vector<std::size_t>{9, 7});
    CHECK(part.position(0).number == 9);
    CHECK(part.resolved(0) == "of 9");
    CHECK(part.position(1).choice == std::vector<std::size_t>{7, 14});
    CHECK(numbers_of(part.only({1})) == std::vector<std::size_t>{7});
    CHECK(points.only({}).empty());
}

}  // namespace
}  // namespace paceline::points_test
