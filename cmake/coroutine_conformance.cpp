// What a compiler must get right about coroutines before it may build paceline.
//
// CheckCoroutines.cmake compiles and runs this program at configure time, with and without
// optimization. Each check drives one coroutine and compares what it did with what the standard
// says. It prints a line for each failure, and exits with 1 if there is any. GCC 12.2 fails in two
// ways: it drops what follows `if (co_await f())` when the coroutine has no local variable
// (GCC PR 106188), and it destroys some temporaries of an awaited expression twice (PR 99576).
//
// The task type is a miniature of that in sim/engine: lazy, owned by its handle, resumed from a
// ready list, without symmetric transfer.
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

std::vector<std::coroutine_handle<>> ready;  // to be resumed, first in, first out
int steps = 0;                               // counted by the coroutine under test
int made = 0;                                // Counted objects constructed, by copies and moves too
int destroyed = 0;                           // Counted objects destroyed

class Counted {
  public:
    Counted() { ++made; }
    Counted(const Counted&) { ++made; }
    Counted& operator=(const Counted&) = default;
    ~Counted() { ++destroyed; }
};

struct Options {
    Counted counted;
    int value = 0;
};

class [[nodiscard]] Task {
  public:
    struct promise_type;  // the name that the language requires
    using Handle = std::coroutine_handle<promise_type>;

    struct Finish {
        promise_type& promise;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) const noexcept;
        void await_resume() const noexcept {}
    };

    struct promise_type {
        std::coroutine_handle<> continuation;
        std::exception_ptr error;
        int value = 0;
        bool finished = false;

        // Zeroed, so that a compiler that reads uninitialized memory always fails the same way.
        static void* operator new(std::size_t size) { return std::calloc(1, size); }
        static void operator delete(void* frame) { std::free(frame); }

        Task get_return_object() { return Task(Handle::from_promise(*this)); }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        Finish final_suspend() noexcept { return {*this}; }
        void return_value(int result) { value = result; }
        void unhandled_exception() { error = std::current_exception(); }
    };

    struct Awaiter {
        promise_type& promise;
        bool await_ready() const { return false; }
        bool await_suspend(std::coroutine_handle<> parent) const {
            Handle::from_promise(promise).resume();
            if (promise.finished) return false;
            promise.continuation = parent;
            return true;
        }
        int await_resume() const {
            if (promise.error) std::rethrow_exception(promise.error);
            return promise.value;
        }
    };

    explicit Task(Handle handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&&) = delete;
    ~Task() {
        if (handle_) handle_.destroy();
    }

    Awaiter operator co_await() && { return {handle_.promise()}; }
    promise_type& start() {
        handle_.resume();
        return handle_.promise();
    }

  private:
    Handle handle_;
};

void Task::Finish::await_suspend(std::coroutine_handle<>) const noexcept {
    promise.finished = true;
    if (promise.continuation) ready.push_back(promise.continuation);
}

struct Yield {  // resumes when the ready list gets to it
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const { ready.push_back(waiter); }
    void await_resume() const {}
};

struct NotAfterAll {  // asks to suspend, then declines: the coroutine continues in place
    bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<>) const { return false; }
    int await_resume() const { return 7; }
};

// Runs the task to its end. Returns its value, or -1 if it never ended.
int run(Task task) {
    const Task::promise_type& promise = task.start();
    for (std::size_t next = 0; next < ready.size(); ++next) ready[next].resume();
    ready.clear();
    if (promise.error) std::rethrow_exception(promise.error);
    return promise.finished ? promise.value : -1;
}

Task at_once(int value) {
    co_return value;
}
Task later(int value) {
    co_await Yield{};
    co_return value;
}
Task by_value(Counted, int value) {
    co_await Yield{};
    co_return value;
}
Task by_reference(const Counted&, int value) {
    co_await Yield{};
    co_return value;
}
Task by_options(Options options) {
    co_await Yield{};
    co_return options.value;
}
template <class Function>
Task by_function(Function function) {
    co_await Yield{};
    co_return function();
}
Task fails(Counted) {
    co_await Yield{};
    throw std::runtime_error("as it should");
}

// (a) No coroutine of this group has a local variable.
Task if_at_once() {
    if (co_await at_once(1)) ++steps;
    co_return 1;
}
Task if_later() {
    if (co_await later(1)) ++steps;
    co_return 1;
}
Task if_else() {
    if (co_await later(0)) {
        co_return 0;
    } else {
        ++steps;
    }
    co_return 1;
}
Task if_nested() {
    if (co_await later(1)) {
        if (co_await at_once(1)) ++steps;
    }
    co_return 1;
}
Task while_later() {
    while (co_await later(steps < 3)) ++steps;
    co_return 1;
}

// (b) Every object is destroyed exactly once.
Task temporary_by_value() {
    co_return co_await by_value(Counted{}, 1);
}
Task temporary_by_reference() {
    co_return co_await by_reference(Counted{}, 1);
}
Task temporary_in_braces() {
    co_return co_await by_options({Counted{}, 1});
}
Task temporary_in_aggregate() {
    co_return co_await by_options(Options{.counted = {}, .value = 1});
}
Task temporary_in_capture() {
    const Counted local;
    co_return co_await by_function([local] { return 1; });
}
Task temporary_in_condition() {
    const int value = 1;
    if (co_await by_value(Counted{}, value)) ++steps;
    co_return value;
}
Task temporary_in_branches() {
    const int value = 1;
    co_return value > 0 ? co_await by_value(Counted{}, value) : co_await by_reference(Counted{}, 0);
}
Task temporary_in_conjunction() {
    const bool both = co_await by_reference(Counted{}, 1) && co_await by_value(Counted{}, 1);
    co_return both;
}
Task temporary_chosen() {
    const int value = 1;
    co_return co_await by_reference(value > 0 ? Counted{} : Counted{}, value);
}

// (c) An exception of an awaited coroutine arrives where it is awaited, and unwinds.
Task catches() {
    const Counted local;
    try {
        co_await fails(Counted{});
    } catch (const std::runtime_error&) {
        ++steps;
    }
    co_return 1;
}
Task lets_pass() {
    const Counted local;
    co_return co_await fails(local);
}
Task catches_from_afar() {
    try {
        co_await lets_pass();
    } catch (const std::runtime_error&) {
        ++steps;
    }
    co_return 1;
}

// (d) An awaiter that declines to suspend.
Task declines() {
    for (int i = 0; i < 3; ++i) steps += co_await NotAfterAll{};
    co_return 1;
}

struct Check {
    const char* what;
    Task (*make)();
    int steps;
};

constexpr std::array<Check, 17> checks{{
    {"temporary passed by value", &temporary_by_value, 0},
    {"temporary passed by reference", &temporary_by_reference, 0},
    {"temporary in a braced argument", &temporary_in_braces, 0},
    {"temporary in an aggregate argument", &temporary_in_aggregate, 0},
    {"temporary in the capture of a lambda argument", &temporary_in_capture, 0},
    {"temporary in a condition", &temporary_in_condition, 1},
    {"temporary in a branch of `?:`", &temporary_in_branches, 0},
    {"temporary beside `&&`", &temporary_in_conjunction, 0},
    {"temporary chosen by `?:`", &temporary_chosen, 0},
    {"exception caught around co_await", &catches, 1},
    {"exception through two coroutines", &catches_from_afar, 1},
    {"await_suspend that returns false", &declines, 21},
    {"body of `if (co_await f())`, f ends at once", &if_at_once, 1},
    {"body of `if (co_await f())`, f waits", &if_later, 1},
    {"`else` of `if (co_await f())`", &if_else, 1},
    {"body of `while (co_await f())`", &while_later, 3},
    {"nested `if (co_await f())`", &if_nested, 1},
}};

bool passes(const Check& check) {
    steps = made = destroyed = 0;
    const int result = run(check.make());
    if (result == 1 && steps == check.steps && made == destroyed) return true;
    std::printf("  %s: %s, %d of %d steps done, %d objects made, %d destroyed\n", check.what,
                result == 1 ? "ended" : "did not end", steps, check.steps, made, destroyed);
    return false;
}

// (e) Destroying a waiting coroutine destroys what it holds, once. This is how paceline cancels.
bool drops_cleanly() {
    steps = made = destroyed = 0;
    {
        Task waiting = catches();
        waiting.start();
        ready.clear();
    }
    if (steps == 0 && made > 0 && made == destroyed) return true;
    std::printf("  coroutine destroyed while it waits: %d objects made, %d destroyed\n", made,
                destroyed);
    return false;
}

}  // namespace

int main() {
    std::setvbuf(stdout, nullptr, _IONBF, 0);  // so that a crash does not lose earlier lines
    bool good = drops_cleanly();
    for (const Check& check : checks) good = passes(check) && good;
    return good ? 0 : 1;
}
