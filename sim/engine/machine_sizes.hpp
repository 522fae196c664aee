// Which machine a device stands in. The devices of a machine are numbered one after the other, and
// the machines in the order of their devices. Machines hold equally many devices, of which the last
// may lack some, or each its own number.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace paceline {

class MachineSizes {
  public:
    /// Requires each >= 1.
    explicit MachineSizes(int each = 1) : each_(each) {}
    /// Requires one machine or more, and that each has a device.
    explicit MachineSizes(std::span<const int> sizes) {
        Table table;
        for (const int size : sizes) {
            table.first.push_back(static_cast<int>(table.machine.size()));
            table.machine.insert(table.machine.end(), static_cast<std::size_t>(size),
                                 static_cast<int>(table.first.size()) - 1);
        }
        own_ = std::make_shared<const Table>(std::move(table));
    }

    [[nodiscard]] int machine_of(int device) const {
        return own_ ? own_->machine[static_cast<std::size_t>(device)] : device / each_;
    }
    [[nodiscard]] int first_of(int machine) const {
        return own_ ? own_->first[static_cast<std::size_t>(machine)] : machine * each_;
    }
    /// Returns the number of a device in its machine.
    [[nodiscard]] int place_of(int device) const { return device - first_of(machine_of(device)); }
    /// Returns whether no machine has several devices.
    [[nodiscard]] bool one_each() const { return !own_ && each_ == 1; }

  private:
    struct Table {
        std::vector<int> machine;  // [device]
        std::vector<int> first;    // [machine]
    };

    int each_ = 1;
    std::shared_ptr<const Table> own_;  // null: `each_` in every machine
};

}  // namespace paceline
