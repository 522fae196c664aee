#include "python/bindings/job.hpp"

#include <chrono>

#include <pybind11/pybind11.h>

#include "models/kernels/isa.hpp"
#include "sim/engine/check.hpp"

namespace paceline::python {

Job::Job(Work work)
    : thread_(
          [this, work = std::move(work)](const std::stop_token& stop) { do_work(work, stop); }) {}

Job::~Job() {
    thread_.request_stop();
    std::optional<pybind11::gil_scoped_release> without;
    if (PyGILState_Check() != 0) without.emplace();
    if (thread_.joinable()) thread_.join();
}

void Job::do_work(const Work& work, const std::stop_token& stop) {
    try {
        chosen_isa();  // reports a wrong PACELINE_ISA before anything else
        work(stop);
    } catch (...) {
        failure_ = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
    ended_.notify_all();
}

bool Job::wait(double seconds) {
    {
        std::unique_lock lock(mutex_);
        if (!ended_.wait_for(lock, std::chrono::duration<double>(seconds),
                             [this] { return has_ended_; }))
            return false;
    }
    // The thread drops what it holds, objects of Python too, before the interpreter may exit.
    const std::scoped_lock lock(joining_);
    if (thread_.joinable()) thread_.join();
    return true;
}

void Job::check() const {
    PACELINE_CHECK(has_ended_, "a job is waited for before its value is taken");
    if (failure_) std::rethrow_exception(failure_);
}

}  // namespace paceline::python
