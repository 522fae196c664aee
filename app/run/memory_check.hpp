// Whether the points of a study fit into memory: the largest ones that may run side by side.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "app/scenario/study.hpp"

namespace paceline {

class MemoryCheck {
  public:
    /// `jobs` points run side by side.
    explicit MemoryCheck(int jobs) : jobs_(static_cast<std::size_t>(jobs)) {}

    void see(const Point& point);

    /// Returns the memory that the points seen so far take at their peak, with their data sets,
    /// where this much is available.
    [[nodiscard]] Bytes need(const AvailableMemory& memory) const;
    /// Returns the memory of all data sets that are generated.
    [[nodiscard]] Bytes generated() const { return generated_; }
    /// Throws ConfigError if less is available. `axes` are those of the study.
    void check(const std::string& file, const std::vector<Axis>& axes,
               const AvailableMemory& memory) const;

  private:
    struct Need {
        Bytes bytes;
        int workers;
        bool by_devices;  // a machine has several, and "cluster.devices" may state their number
        std::vector<std::size_t> choice;
    };

    std::size_t jobs_;
    std::vector<Need> largest_;                  // at most jobs_, the largest first
    std::unordered_set<std::size_t> data_sets_;  // hashes of what they are made from
    Bytes data_of_all_{};
    Bytes generated_{};
    Bytes largest_data_{};
};

/// Throws ConfigError if the study would need more memory than the machine has available.
void check_memory(const Study& study, int jobs);

}  // namespace paceline
