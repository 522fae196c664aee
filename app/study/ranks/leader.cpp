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

Leader::Leader(Post& post, std::function<void()> interrupt)
    : post_(post),
      interrupt_(std::move(interrupt)),
      greetings_(static_cast<std::size_t>(post.seat().ranks)) {}

std::string Leader::name_of(int rank) const {
    return fmt::format("rank {} on {}", rank, greetings_[static_cast<std::size_t>(rank)].host);
}

void Leader::send_all(Word word, std::uint64_t number) {
    for (int rank = 1; rank < post_.seat().ranks; ++rank) post_.send(rank, word, number);
}

std::optional<RankLetter> Leader::next_letter() {
    auto letter = post_.receive();
    if (letter && letter->word == Word::interrupted) interrupt_();
    if (letter && letter->word == Word::fault)
        throw std::runtime_error(fmt::format("{}: {}", name_of(letter->rank), letter->text));
    return letter;
}

void Leader::check(int rank, const Greeting& own) const {
    const Greeting& other = greetings_[static_cast<std::size_t>(rank)];
    if (!other.error.empty()) throw ConfigError(name_of(rank), "", other.error);
    if (other.program != own.program)
        throw ConfigError(name_of(rank), "",
                          "runs another build of paceline than rank 0; start the same file on all "
                          "machines");
    if (other.study != own.study)
        throw ConfigError(name_of(rank), "",
                          "reads another scenario, or other files named in it, than rank 0; make "
                          "them the same on all machines");
}

void Leader::gather(const Greeting& own) {
    Patience patience;
    for (int missing = post_.seat().ranks - 1; missing > 0;) {
        if (const auto letter = next_letter(); !letter) {
            std::this_thread::sleep_for(patience.pause());
        } else if (letter->word == Word::greeting) {
            greetings_[static_cast<std::size_t>(letter->rank)] = read_greeting(letter->text);
            --missing;
        }
    }
    for (int rank = 1; rank < post_.seat().ranks; ++rank) {
        check(rank, own);
        loops_elsewhere_ += greetings_[static_cast<std::size_t>(rank)].loops;
    }
}

struct Leader::Handing {
    const StudyRuns& runs;
    const RunExchange& exchange;
    std::size_t elsewhere = 0;  // runs in progress on other ranks
};

void Leader::answer(Handing& handing, const RankLetter& letter) {
    if (letter.word == Word::ask) {
        const std::optional<std::size_t> run = handing.exchange.next();
        if (run) ++handing.elsewhere;
        post_.send(letter.rank, run ? Word::run : Word::none, run.value_or(0));
    } else if (letter.word == Word::result) {
        const auto run = static_cast<std::size_t>(letter.number);
        auto result = read_point(letter.text, handing.runs.key(run));
        if (!result)
            throw std::runtime_error(
                fmt::format("{}: the result of run {} is not whole", name_of(letter.rank), run));
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

    send_all(Word::begin);
    Patience patience;
    while (!stop.stop_requested()) {
        const bool done = done_here;
        if (done && (failure || handing.elsewhere == 0)) break;
        if (const auto letter = next_letter()) {
            patience.letter_came();
            answer(handing, *letter);
        } else {
            std::this_thread::sleep_for(patience.pause());
        }
    }
    if (stop.stop_requested()) send_all(Word::stop);
    here.join();
    if (failure) std::rethrow_exception(failure);
}

bool Leader::dismiss(int exit_code, std::chrono::milliseconds patience) {
    send_all(Word::end, static_cast<std::uint64_t>(exit_code));
    const auto deadline = std::chrono::steady_clock::now() + patience;
    Patience pauses;
    for (int missing = post_.seat().ranks - 1; missing > 0;) {
        if (const auto letter = post_.receive(); !letter)
            std::this_thread::sleep_for(pauses.pause());
        else if (letter->word == Word::bye)
            --missing;
        if (std::chrono::steady_clock::now() > deadline) return missing == 0;
    }
    return true;
}

}  // namespace paceline
