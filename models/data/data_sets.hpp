// The data sets of a study, each made when a run needs it and kept while there is room.
//
//     DataSets sets(Bytes{1'000'000'000});
//     const DataSetPtr set = sets.get("mixture of seed 3", [] { return gaussian_mixture(...); });
//
// A set is found by a text that says all it is made from. Runs that need the same set at the same
// time share it: one makes it, the others wait. A set that no run uses any more is kept until
// others need its room, the one that was used longest ago first; then the next run that needs it
// makes it again. So the sets take at most the room that was given, or what runs hold at a time.
//
// Several threads may call at the same time. What making throws is thrown to the one who asked.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "models/data/dataset.hpp"
#include "models/tensors/parallel.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

using DataSetPtr = std::shared_ptr<const Dataset>;

class DataSets {
  public:
    explicit DataSets(Bytes room) : room_(room) {}

    DataSetPtr get(const std::string& name, const std::function<Dataset()>& make);

  private:
    struct Slot {
        Mutex making;
        std::weak_ptr<const Dataset> set;
    };
    struct Kept {
        DataSetPtr set;
        Bytes size;
    };

    Slot& slot(const std::string& name);
    void keep(const DataSetPtr& set);

    Bytes room_;
    Mutex mutex_;                        // of what follows
    std::map<std::string, Slot> slots_;  // which do not move
    std::list<Kept> kept_;               // the last used first
    Bytes taken_{};
};

}  // namespace paceline
