// Which workers of a job die and return together: the devices of a machine, or those of an island.
//
// The workers of a domain leave at one instant, and join in one step. Machines of one device make
// each worker a domain of its own.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace paceline {

class FailureDomains {
  public:
    /// Requires that each of the workers is in exactly one of them. None given: each is its own.
    FailureDomains(std::vector<std::vector<int>> members, int workers)
        : members_(std::move(members)), of_(static_cast<std::size_t>(workers)) {
        if (members_.empty())
            for (int rank = 0; rank < workers; ++rank) members_.push_back({rank});
        for (std::size_t domain = 0; domain < members_.size(); ++domain)
            for (const int rank : members_[domain])
                of_[static_cast<std::size_t>(rank)] = static_cast<int>(domain);
    }

    [[nodiscard]] int count() const { return static_cast<int>(members_.size()); }
    [[nodiscard]] const std::vector<int>& members(int domain) const {
        return members_[static_cast<std::size_t>(domain)];
    }
    [[nodiscard]] int of(int rank) const { return of_[static_cast<std::size_t>(rank)]; }
    /// Returns the worker of a domain that stands where `rank` stands in its own. If the domain is
    /// smaller, some of its workers stand for several.
    [[nodiscard]] int counterpart(int rank, int domain) const {
        const std::vector<int>& own = members(of(rank));
        std::size_t place = 0;
        while (own[place] != rank) ++place;
        const std::vector<int>& others = members(domain);
        return others[place % others.size()];
    }

  private:
    std::vector<std::vector<int>> members_;
    std::vector<int> of_;  // [rank]
};

}  // namespace paceline
