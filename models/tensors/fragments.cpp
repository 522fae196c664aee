#include "models/tensors/fragments.hpp"

namespace paceline {

std::vector<TensorRun> fragments(const Layout& layout, std::size_t count) {
    const std::size_t tensors = layout.tensors().size();
    std::vector<TensorRun> runs;
    std::size_t first = 0;
    for (std::size_t p = 1; p <= count; ++p) {
        // The middle of a tensor, 2 middle = offset + next offset, against p/P of all entries.
        const auto before = [&](std::size_t tensor) {
            const std::int64_t twice = layout.offset(tensor) + layout.offset(tensor + 1);
            return twice * static_cast<std::int64_t>(count) <
                   2 * layout.entries() * static_cast<std::int64_t>(p);
        };
        std::size_t end = p == count ? tensors : first;
        while (end < tensors && before(end)) ++end;
        runs.push_back({first, end - first});
        first = end;
    }
    return runs;
}

}  // namespace paceline
