#include "app/study/ranks/leader.hpp"

#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/study/point_file.hpp"

namespace paceline {

Leader::Leader(Communicator& communicator, std::function<void()> interrupt)
    : communicator_(communicator),
      interrupt_(std::move(interrupt)),
      hellos_(static_cast<std::size_t>(communicator.info().ranks)) {}

std::string Leader::name_of(int rank) const {
    return fmt::format("rank {} on {}", rank, hellos_[static_cast<std::size_t>(rank)].host);
}

void Leader::send_all(MessageKind kind, std::uint64_t number) {
    for (int rank = 1; rank < communicator_.info().ranks; ++rank)
        communicator_.send(rank, kind, number);
}

std::optional<RankMessage> Leader::next_letter() {
    auto message = communicator_.receive();
    if (message && message->kind == MessageKind::interrupted) interrupt_();
    if (message && message->kind == MessageKind::fault)
        throw std::runtime_error(fmt::format("{}: {}", name_of(message->rank), message->text));
    return message;
}

void Leader::check(int rank, const Hello& own) const {
    const Hello& other = hellos_[static_cast<std::size_t>(rank)];
    if (!other.error.empty()) throw ConfigError(name_of(rank), "", other.error);
    if (other.program != own.program)
        throw ConfigError(name_of(rank), "",
                          "runs another build of paceline than rank 0; start the same file on all "
                          "machines");
    if (other.study != own.study)
        throw ConfigError(name_of(rank), "",
                          "reads another scenario, or other files named in it, than rank 0; make "
                          "them identical on all machines");
}

void Leader::gather(const Hello& own) {
    Patience patience;
    for (int missing = communicator_.info().ranks - 1; missing > 0;) {
        if (const auto message = next_letter(); !message) {
            std::this_thread::sleep_for(patience.pause());
        } else if (message->kind == MessageKind::hello) {
            hellos_[static_cast<std::size_t>(message->rank)] = read_hello(message->text);
            --missing;
        }
    }
    for (int rank = 1; rank < communicator_.info().ranks; ++rank) {
        check(rank, own);
        loops_elsewhere_ += hellos_[static_cast<std::size_t>(rank)].loops;
    }
}

struct Leader::Handing {
    const StudyRuns& runs;
    const RunExchange& exchange;
    std::size_t elsewhere = 0;  // runs in progress on other ranks
};

void Leader::answer(Handing& handing, const RankMessage& message) {
    if (message.kind == MessageKind::ask) {
        const std::optional<std::size_t> run = handing.exchange.next();
        if (run) ++handing.elsewhere;
        communicator_.send(message.rank, run ? MessageKind::run : MessageKind::none,
                           run.value_or(0));
    } else if (message.kind == MessageKind::result) {
        const auto run = static_cast<std::size_t>(message.number);
        auto result = read_point(message.text, handing.runs.key(run));
        if (!result)
            throw std::runtime_error(
                fmt::format("{}: the result of run {} is incomplete", name_of(message.rank), run));
        --handing.elsewhere;
        handing.exchange.finished(run, std::move(*result));
    }
}

void Leader::run(const StudyRuns& runs, const PoolSize& size, const RunExchange& exchange,
                 StudyProgress& progress, const std::stop_token& stop) {
    Handing handing{runs, exchange};
    std::atomic<bool> done_here = false;
    std::exception_ptr failure;  // of this rank; read it only when that is done
    std::jthread here([&](const std::stop_token& own_stop) {
        try {
            run_side_by_side(runs, size, exchange, progress, own_stop);
        } catch (...) {
            failure = std::current_exception();
        }
        done_here = true;
    });
    const std::stop_callback pass_on(stop, [&here] { here.request_stop(); });

    send_all(MessageKind::begin);
    Patience patience;
    while (!stop.stop_requested()) {
        const bool done = done_here;
        if (done && (failure || handing.elsewhere == 0)) break;
        if (const auto message = next_letter()) {
            patience.message_came();
            answer(handing, *message);
        } else {
            std::this_thread::sleep_for(patience.pause());
        }
    }
    if (stop.stop_requested()) send_all(MessageKind::stop);
    here.join();
    if (failure) std::rethrow_exception(failure);
}

bool Leader::dismiss(int exit_code, std::chrono::milliseconds patience) {
    send_all(MessageKind::end, static_cast<std::uint64_t>(exit_code));
    const auto deadline = std::chrono::steady_clock::now() + patience;
    Patience pauses;
    for (int missing = communicator_.info().ranks - 1; missing > 0;) {
        if (const auto message = communicator_.receive(); !message)
            std::this_thread::sleep_for(pauses.pause());
        else if (message->kind == MessageKind::bye)
            --missing;
        if (std::chrono::steady_clock::now() > deadline) return missing == 0;
    }
    return true;
}

}  // namespace paceline
