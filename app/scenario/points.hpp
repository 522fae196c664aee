// The points of a study: a list whose elements are read when they are asked for.
//
// A point takes some ten microseconds to read and some kilobytes to hold, so a study of a million
// points holds its scenario and its axes, not its points. An element is returned by value, and is
// read anew each time: a loop that needs several things of a point gets them in one pass.
//
// Reading uses the cache of the study's sources (app/json/content_cache.hpp), so only one thread at
// a time may ask for elements of studies that share sources.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// Where a point is in its study. This takes no reading.
struct Position {
    std::size_t number = 0;           // in the study
    std::vector<std::size_t> choice;  // a value per axis
};

struct Point {
    std::vector<std::size_t> choice;  // a value per axis
    std::string resolved;             // the point as JSON, without "sweep" and "title"
    Scenario scenario;
    std::size_t number = 0;  // in the study
};

class Points {
  public:
    using Read = std::function<Point(std::size_t index)>;
    using Resolve = std::function<std::string(std::size_t index)>;
    using Locate = std::function<Position(std::size_t index)>;

    Points() = default;
    Points(std::size_t size, Read read, Resolve resolve, Locate locate)
        : size_(size),
          read_(std::move(read)),
          resolve_(std::move(resolve)),
          locate_(std::move(locate)) {}
    /// Holds these points.
    explicit Points(std::vector<Point> points);
    Points(std::initializer_list<Point> points) : Points(std::vector<Point>(points)) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] Point operator[](std::size_t index) const { return read_(index); }
    [[nodiscard]] Point front() const { return read_(0); }
    /// Returns the point as JSON, which takes a third of the time of reading it.
    [[nodiscard]] std::string resolved(std::size_t index) const { return resolve_(index); }
    /// Thread-safe.
    [[nodiscard]] Position position(std::size_t index) const { return locate_(index); }
    /// Returns the list of these elements. Their numbers stay as they are.
    [[nodiscard]] Points only(std::vector<std::size_t> indices) const;

    class Iterator {
      public:
        using value_type = Point;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;

        Iterator() = default;
        Iterator(const Points* points, std::size_t index) : points_(points), index_(index) {}
        Point operator*() const { return (*points_)[index_]; }
        Iterator& operator++() {
            ++index_;
            return *this;
        }
        Iterator operator++(int) { return {points_, index_++}; }
        bool operator==(const Iterator&) const = default;

      private:
        const Points* points_ = nullptr;
        std::size_t index_ = 0;
    };
    [[nodiscard]] Iterator begin() const { return {this, 0}; }
    [[nodiscard]] Iterator end() const { return {this, size_}; }

  private:
    std::size_t size_ = 0;
    Read read_;
    Resolve resolve_;
    Locate locate_;
};

}  // namespace paceline
