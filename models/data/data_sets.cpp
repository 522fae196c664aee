#include "models/data/data_sets.hpp"

#include <algorithm>

namespace paceline {

DataSetPtr DataSets::get(const std::string& name, const std::function<Dataset()>& make) {
    Slot& own = slot(name);
    const Lock making(own.making);
    DataSetPtr set = own.set.lock();
    if (!set) {
        set = std::make_shared<const Dataset>(make());
        own.set = set;
    }
    keep(set);
    return set;
}

DataSets::Slot& DataSets::slot(const std::string& name) {
    const Lock lock(mutex_);
    return slots_[name];
}

void DataSets::keep(const DataSetPtr& set) {
    const Lock lock(mutex_);
    const auto there = std::ranges::find(kept_, set, &Kept::set);
    if (there != kept_.end()) {
        kept_.splice(kept_.begin(), kept_, there);
        return;
    }
    kept_.push_front({set, shape_of(*set).bytes});
    taken_ += kept_.front().size;
    while (taken_ > room_ && !kept_.empty()) {
        taken_ = Bytes{taken_.count - kept_.back().size.count};
        kept_.pop_back();
    }
}

}  // namespace paceline
