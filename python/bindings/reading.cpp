#include "python/bindings/reading.hpp"

#include <utility>

#include "app/questions/warnings/warnings.hpp"
#include "app/run/memory_check.hpp"

namespace paceline::python {

namespace {

ReadStudyPtr read_and_warn(const ReadRequest& request, const std::stop_token& stop) {
    MemoryCheck memory(request.jobs);
    Warnings warnings;
    Study study =
        read_study(request.scenario, request.settings, request.picks, [&](const Point& point) {
            if (stop.stop_requested()) throw Stopped{};
            memory.see(point);
            warnings.see(point);
        });
    memory.check(study.file, study.axes, study.sources.memory());
    std::vector<std::string> lines = warnings.lines(study.axes);
    return std::make_shared<const ReadStudy>(ReadStudy{std::move(study), std::move(lines)});
}

}  // namespace

std::unique_ptr<ReadJob> begin_reading(ReadRequest request) {
    return std::make_unique<ReadJob>([request = std::move(request)](const std::stop_token& stop) {
        return read_and_warn(request, stop);
    });
}

}  // namespace paceline::python
