#include "sim/engine/processes.hpp"

#include <algorithm>
#include <utility>

namespace paceline {

void Processes::spawn(std::string name, Task<> work) {
    const Root& root = roots_.emplace_back(make_process(std::move(name), kind_), std::move(work));
    root.work.promise().begin_later(simulation_, root.process.get());
}

void Processes::drop() {
    while (!roots_.empty()) roots_.pop_front();  // clear() guarantees no order
}

bool Processes::finished() const {
    return std::ranges::all_of(roots_,
                               [](const Root& root) { return root.work.promise().finished(); });
}

}  // namespace paceline
