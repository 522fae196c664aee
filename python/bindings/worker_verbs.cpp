// The verbs of a Worker for Python: each makes an operation, which copies its arguments.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "algorithms/lives/lives.hpp"
#include "python/bindings/draws.hpp"
#include "python/bindings/worker_core.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline::python {

namespace {

using Group = std::optional<std::vector<int>>;
using Weight = std::optional<std::int64_t>;  // bytes; empty: what the vector weighs

OperationPtr operation(std::string_view name, std::function<Task<Result>(Run&)> perform) {
    return std::make_shared<Operation>(Operation{name, std::move(perform)});
}

// --- arguments ---

Duration duration_of(double seconds) {
    if (!(seconds >= 0) || seconds > 1e9)
        throw std::invalid_argument(fmt::format("{} s is not a duration of 0 or more", seconds));
    return from_seconds(seconds);
}

int rank_of(const WorkerCore& core, int rank) {
    const int workers = core.worker().workers();
    if (rank < 0 || rank >= workers)
        throw std::invalid_argument(
            fmt::format("{} is not a worker: there are 0 to {}", rank, workers - 1));
    return rank;
}

// Servers get letters, too.
int receiver_of(const WorkerCore& core, int rank) {
    const int nodes = core.worker().workers() + core.servers();
    if (rank < 0 || rank >= nodes)
        throw std::invalid_argument(
            fmt::format("{} is not a worker or server: there are 0 to {}", rank, nodes - 1));
    return rank;
}

int box_of(int box) {
    constexpr int most = 1'000'000;
    if (box < 0 || box > most)
        throw std::invalid_argument(fmt::format("{} is not a box: there are 0 to {}", box, most));
    return box;
}

void check_group(const WorkerCore& core, const Group& ranks) {
    if (!ranks) return;
    const Worker& self = core.worker();
    std::vector<int> sorted = *ranks;
    std::ranges::sort(sorted);
    for (const int rank : sorted) (void)rank_of(core, rank);
    if (std::ranges::adjacent_find(sorted) != sorted.end())
        throw std::invalid_argument("a group names each worker once");
    if (!std::ranges::binary_search(sorted, self.rank()))
        throw std::invalid_argument(fmt::format("worker {} is not in the group", self.rank()));
    if (self.lives().others_fail() && static_cast<int>(sorted.size()) != self.workers())
        throw std::invalid_argument("where nodes fail, the only group is that of all workers");
}

GroupPtr group_of(Worker& self, const Group& ranks) {
    return ranks ? self.group(*ranks) : self.everybody();
}

void need_mixing(const WorkerCore& core) {
    if (!core.has_mixing())
        throw std::invalid_argument(
            "this needs a mixing: give the algorithm one, such as \"mixing\": {\"kind\": "
            "\"ring\"}");
}

Bytes weight_of(Worker& self, const Vector& v, const Weight& weight) {
    if (weight && *weight < 0) throw std::invalid_argument("a message weighs 0 bytes or more");
    return weight ? Bytes{*weight} : self.weigh(v);
}

// --- what operations do ---

Task<Result> compute_gradient(Worker& self, Vector x) {
    Vector g = co_await self.gradient(std::move(x));
    co_return ForPython{std::move(g), true};
}

Task<Result> update(Worker& self) {
    co_await self.update();
    co_return Result{};
}

Task<Result> compute(Worker& self, Duration time) {
    co_await self.compute(time);
    co_return Result{};
}

Task<Result> sleep(Worker& self, Duration time) {
    co_await self.simulation().sleep(time);
    co_return Result{};
}

Task<Result> barrier(Worker& self) {
    co_await self.barrier();
    co_return Result{};
}

Task<Result> all_reduce(Run& run, Vector v, Bytes weight, Group ranks) {
    Worker& self = run.worker();
    const GroupPtr group = group_of(self, ranks);
    Vector mean = co_await self.all_reduce(
        std::move(v), run.exchange_options().aggregation.all_reduce, weight, group);
    co_return ForPython{std::move(mean), false};
}

Task<Result> neighbor_average(Worker& self, Vector v, Bytes weight) {
    Vector mean = co_await self.neighbor_average(std::move(v), weight);
    co_return ForPython{std::move(mean), true};
}

Task<Result> neighbor_sum(Worker& self, Vector v, Bytes weight) {
    Vector sum = co_await self.neighbor_sum(std::move(v), weight);
    co_return ForPython{std::move(sum), true};
}

Task<Result> aggregate(Run& run, std::size_t exchange, Vector v) {
    Vector mean = co_await run.exchange(exchange).aggregate(std::move(v));
    co_return ForPython{std::move(mean), false};
}

// Behind backward, each worker forms its own gradient: VectorExchange may form the mean of all at
// the x of one, which are equal in methods of the table alone.
Task<Result> mean_gradient(Run& run, std::size_t exchange, Vector x) {
    const bool behind = waits_for_backward(run.exchange_options().schedule.begin);
    if (!behind) {
        Vector mean = co_await run.exchange(exchange).mean_gradient(x);
        co_return ForPython{std::move(mean), false};
    }
    Vector g = co_await run.worker().gradient(std::move(x));
    Vector mean = co_await run.exchange(exchange).aggregate(std::move(g));
    co_return ForPython{std::move(mean), false};
}

Task<Result> post(Worker& self, int to, int box, Letter letter, Bytes weight) {
    co_await self.mail().post(to, box, std::move(letter), weight);
    co_return Result{};
}

Task<Result> next_letter(Worker& self, int box) {
    Letter letter = co_await self.mail().next_letter(box);
    co_return Result(std::move(letter));
}

Task<Result> next_letter_or_change(Worker& self, int box) {
    std::optional<Letter> letter = co_await self.mail().next_letter_or_change(box);
    if (!letter) co_return Result{};
    co_return Result(*std::move(letter));
}

Task<Result> complete_piece(Run::BackwardPassPtr pass, std::size_t i) {
    const Piece& piece = pass->pieces[i];
    co_await pass->backward.completed(piece.bucket);
    if (i + 1 == pass->pieces.size()) pass->is_over = true;
    Vector part = part_of(pass->backward.gradient(), piece);
    co_return ForPython{std::move(part), true};
}

Task<Result> next_value(Run& run, std::size_t channel) {
    HeldObject value = co_await run.channel(channel).get();
    co_return Result(std::move(value));
}

Task<> serve(RunPtr run, HeldObject coroutine) {
    const Result nothing = co_await drive(*run, std::move(coroutine));
}

// --- operations ---

void check_backward_is_over(const WorkerCore& core) {
    const auto& pass = core.run().backward();
    if (pass != nullptr && !pass->is_over)
        throw std::invalid_argument(
            "await the last piece of the gradient before, then begin another");
}

// The array of the model stands for the model as it is when the operation begins, without a copy:
// Python gets the values for itself before it goes on (WorkerCore::separate_model).
OperationPtr gradient_of(WorkerCore& core, const py::handle& x) {
    check_backward_is_over(core);
    if (core.is_model(x))
        return operation("gradient", [](Run& run) {
            return compute_gradient(run.worker(), run.worker().model());
        });
    return operation("gradient", [v = core.model_sized_from(x)](Run& run) mutable {
        return compute_gradient(run.worker(), std::move(v));
    });
}

OperationPtr all_reduce_of(WorkerCore& core, const py::handle& v, const Weight& weight,
                           const Group& group) {
    check_group(core, group);
    Vector vector = core.vector_from(v);
    const Bytes bytes = weight_of(core.worker(), vector, weight);
    return operation("all_reduce", [vector = std::move(vector), bytes, group](Run& run) mutable {
        return all_reduce(run, std::move(vector), bytes, group);
    });
}

using OfNeighbors = Task<Result> (*)(Worker&, Vector, Bytes);

OperationPtr with_neighbors(std::string_view name, OfNeighbors perform, WorkerCore& core,
                            const py::handle& v, const Weight& weight) {
    need_mixing(core);
    Vector vector = core.vector_from(v);
    const Bytes bytes = weight_of(core.worker(), vector, weight);
    return operation(name, [vector = std::move(vector), bytes, perform](Run& run) mutable {
        return perform(run.worker(), std::move(vector), bytes);
    });
}

OperationPtr aggregate_of(WorkerCore& core, std::size_t exchange, const py::handle& v) {
    return operation("aggregate", [v = core.model_sized_from(v), exchange](Run& run) mutable {
        return aggregate(run, exchange, std::move(v));
    });
}

OperationPtr mean_gradient_of(WorkerCore& core, std::size_t exchange, const py::handle& x) {
    return operation("mean_gradient", [x = core.model_sized_from(x), exchange](Run& run) mutable {
        return mean_gradient(run, exchange, std::move(x));
    });
}

OperationPtr post_of(WorkerCore& core, int to, const py::object& v, double number, int box,
                     const Weight& weight) {
    Letter letter{.number = number};
    Bytes bytes{weight.value_or(0)};
    if (!v.is_none()) {
        letter.vector = core.vector_from(v);
        bytes = weight_of(core.worker(), *letter.vector, weight);
    }
    if (bytes < Bytes{0}) throw std::invalid_argument("a message weighs 0 bytes or more");
    return operation("post", [to = receiver_of(core, to), box = box_of(box),
                              letter = std::move(letter), bytes](Run& run) mutable {
        return post(run.worker(), to, box, std::move(letter), bytes);
    });
}

std::size_t begin_backward(WorkerCore& core, const py::handle& x) {
    check_backward_is_over(core);
    Vector at = core.model_sized_from(x);
    Run& run = core.run();
    std::size_t number = 0;
    {
        const py::gil_scoped_release release;
        number = run.begin_backward(std::move(at)).number;
    }
    core.separate_model();
    return number;
}

Run::BackwardPassPtr pass_of(const WorkerCore& core, std::size_t number) {
    const auto& pass = core.run().backward();
    if (pass == nullptr || pass->number != number)
        throw std::invalid_argument("this gradient is over: a newer one has begun");
    return pass;
}

using PieceForPython = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

// Returns offset, entries and weight of each piece.
std::vector<PieceForPython> pieces_of_backward(const WorkerCore& core, std::size_t number) {
    std::vector<PieceForPython> pieces;
    for (const Piece& piece : pass_of(core, number)->pieces)
        pieces.emplace_back(piece.offset, piece.layout->entries(),
                            core.worker().wire().weigh(piece.charged->entries()).count);
    return pieces;
}

OperationPtr complete_of(const WorkerCore& core, std::size_t number, std::size_t piece) {
    Run::BackwardPassPtr pass = pass_of(core, number);
    if (piece >= pass->pieces.size())
        throw std::invalid_argument(fmt::format("there are {} pieces, and {} is not one of them",
                                                pass->pieces.size(), piece));
    return operation("complete", [pass = std::move(pass), piece](Run& /*run*/) {
        return complete_piece(pass, piece);
    });
}

// --- state that is equal on all workers ---

// Names of methods are apart from those of the engine.
std::string own_name(const std::string& name) {
    return "of the method: " + name;
}

Vector& shared_of(const WorkerCore& core, const std::string& name) {
    return name.empty() ? core.worker().replicated_model()
                        : core.worker().replicated(own_name(name));
}

void make_shared_state(WorkerCore& core, const std::string& name, const py::object& first) {
    if (first.is_none())
        (void)shared_of(core, name);
    else
        (void)core.worker().replicated(own_name(name), core.vector_from(first));
}

void set_shared(WorkerCore& core, const std::string& name, const py::handle& given) {
    Vector& state = shared_of(core, name);
    Vector value = core.vector_from(given);
    if (value.entries() != state.entries())
        throw std::invalid_argument(
            fmt::format("has {} numbers, and it had {}", value.entries(), state.entries()));
    state = std::move(value);
}

bool begins_update(const WorkerCore& core, std::int64_t k) {
    Worker& self = core.worker();
    if (k < 0 || (k > self.updates_done() && !self.lives().others_fail()))
        throw std::invalid_argument(
            fmt::format("updates are numbered 0, 1, ... without gaps; the next is {}, not {}",
                        self.updates_done(), k));
    bool begins = false;
    self.once(k, [&] { begins = true; });
    return begins;
}

// Starts an operation, or a coroutine of Python. The engine goes on with it without the GIL.
OperationPtr start(WorkerCore& core, const std::function<Task<Result>()>& make) {
    Run& run = core.run();
    Run::Started::iterator started;
    {
        const py::gil_scoped_release release;
        started = run.start(make());
    }
    core.separate_model();
    return operation("start", [started](Run& at) { return at.await_started(started); });
}

// --- facts ---

using Tensors = std::vector<std::tuple<std::string, std::int64_t, std::vector<std::int64_t>, bool>>;

Tensors tensors_of_model(const WorkerCore& core) {
    const Layout& layout = *core.worker().model().layout();
    Tensors tensors;
    for (std::size_t i = 0; i < layout.tensors().size(); ++i) {
        const Tensor& tensor = layout.tensors()[i];
        tensors.emplace_back(tensor.name, layout.offset(i), tensor.shape, tensor.compressible());
    }
    return tensors;
}

std::vector<std::pair<int, double>> row_of_mixing(const WorkerCore& core) {
    need_mixing(core);
    std::vector<std::pair<int, double>> row;
    for (const MixingWeight& one : core.worker().mixing()->row(core.worker().rank()))
        row.emplace_back(one.node, one.weight);
    return row;
}

std::vector<int> neighbors_of(const WorkerCore& core) {
    need_mixing(core);
    return core.worker().mixing()->listeners(core.worker().rank());
}

// Models are evaluated here, and checkpoints taken: by threads that may need the GIL, and of values
// that Python may write into at once.
bool begins_step(WorkerCore& core) {
    Worker& worker = core.worker();
    bool begins = false;
    {
        const py::gil_scoped_release release;
        begins = worker.begins_step();
    }
    core.separate_model();
    return begins;
}

using CoreClass = py::class_<WorkerCore, WorkerCorePtr>;

void define_facts(CoreClass& core) {
    core.def("rank", [](const WorkerCore& c) { return c.worker().rank(); })
        .def("workers", [](const WorkerCore& c) { return c.worker().workers(); })
        .def("servers", &WorkerCore::servers)
        .def("timing_only", [](const WorkerCore& c) { return c.worker().timing_only(); })
        .def("parameters", [](const WorkerCore& c) { return c.worker().model().entries(); })
        .def("tensors", &tensors_of_model)
        .def("now",
             [](const WorkerCore& c) { return to_seconds(c.worker().simulation().now() - Time{}); })
        .def("step", [](const WorkerCore& c) { return c.worker().step(); })
        .def("epoch", [](const WorkerCore& c) { return c.worker().epoch(); })
        .def("begins_step", &begins_step)
        .def("learning_rate", [](const WorkerCore& c) { return c.worker().learning_rate(); })
        .def("gradients_left", [](const WorkerCore& c) { return c.worker().gradients_left(); })
        .def("samples",
             [](const WorkerCore& c, int rank) { return c.worker().samples(rank_of(c, rank)); })
        .def("model", &WorkerCore::model)
        .def("neighbors", &neighbors_of)
        .def("mixing_row", &row_of_mixing)
        .def("present", [](const WorkerCore& c,
                           int rank) { return c.worker().lives().present(rank_of(c, rank)); })
        .def("first_step", [](const WorkerCore& c,
                              int rank) { return c.worker().lives().first_step(rank_of(c, rank)); })
        .def("life", [](const WorkerCore& c,
                        int rank) { return c.worker().lives().life(rank_of(c, rank)); })
        .def("is_known_dead",
             [](const WorkerCore& c, int rank, int life) {
                 return c.worker().lives().is_known_dead(rank_of(c, rank), life);
             })
        .def("count_staleness",
             [](const WorkerCore& c, double age) { c.worker().metrics().count_staleness(age); })
        .def("stream", [](const WorkerCore& c,
                          const std::string& name) { return Draws(c.worker().stream(name)); })
        .def("forget", [](WorkerCore& c, const Operation& forgotten, std::string file, int line) {
            if (c.is_in_use())
                c.forget({std::string(forgotten.name), std::move(file), line, c.worker().step()});
        });
}

void define_communication(CoreClass& core) {
    core.def("all_reduce", &all_reduce_of)
        .def("neighbor_average",
             [](WorkerCore& c, const py::handle& v, const Weight& weight) {
                 return with_neighbors("neighbor_average", &neighbor_average, c, v, weight);
             })
        .def("neighbor_sum",
             [](WorkerCore& c, const py::handle& v, const Weight& weight) {
                 return with_neighbors("neighbor_sum", &neighbor_sum, c, v, weight);
             })
        .def("new_exchange",
             [](WorkerCore& c) {
                 (void)c.run();
                 return c.exchanges++;
             })
        .def("aggregate", &aggregate_of)
        .def("mean_gradient", &mean_gradient_of)
        .def("post", &post_of)
        .def("next_letter",
             [](const WorkerCore&, int box) {
                 return operation("next_letter", [box = box_of(box)](Run& run) {
                     return next_letter(run.worker(), box);
                 });
             })
        .def("next_letter_or_change",
             [](const WorkerCore&, int box) {
                 return operation("next_letter_or_change", [box = box_of(box)](Run& run) {
                     return next_letter_or_change(run.worker(), box);
                 });
             })
        .def("barrier", [](const WorkerCore&) {
            return operation("barrier", [](Run& run) { return barrier(run.worker()); });
        });
}

void define_state(CoreClass& core) {
    core.def("make_shared", &make_shared_state)
        .def("shared_value",
             [](WorkerCore& c, const std::string& name) {
                 return c.array_of({shared_of(c, name), false});
             })
        .def("set_shared", &set_shared)
        .def("begins_update", &begins_update)
        .def("updates_done", [](const WorkerCore& c) { return c.worker().updates_done(); });
}

void define_work(CoreClass& core) {
    core.def("gradient", &gradient_of)
        .def("begin_backward", &begin_backward)
        .def("pieces", &pieces_of_backward)
        .def("complete", &complete_of)
        .def("update",
             [](const WorkerCore&) {
                 return operation("update", [](Run& run) { return update(run.worker()); });
             })
        .def("compute",
             [](const WorkerCore&, double seconds) {
                 return operation("compute", [time = duration_of(seconds)](Run& run) {
                     return compute(run.worker(), time);
                 });
             })
        .def("sleep",
             [](const WorkerCore&, double seconds) {
                 return operation("sleep", [time = duration_of(seconds)](Run& run) {
                     return sleep(run.worker(), time);
                 });
             })
        .def("start",
             [](WorkerCore& c, OperationPtr begun) {
                 return start(c, [&c, begun = std::move(begun)] { return begin(begun, c.run()); });
             })
        .def("start_coroutine",
             [](WorkerCore& c, py::object coroutine) {
                 return start(
                     c, [&c, held = hold(std::move(coroutine))] { return drive(c.run(), held); });
             })
        .def("serve",
             [](WorkerCore& c, py::object coroutine) {
                 Run& run = c.run();
                 run.worker().serve(serve(run.shared_from_this(), hold(std::move(coroutine))));
             })
        .def("new_channel",
             [](WorkerCore& c) {
                 (void)c.run();
                 return c.channels++;
             })
        .def("put", [](WorkerCore& c, std::size_t channel,
                       py::object value) { c.run().channel(channel).put(hold(std::move(value))); })
        .def("get", [](const WorkerCore&, std::size_t channel) {
            return operation("get", [channel](Run& run) { return next_value(run, channel); });
        });
}

}  // namespace

void define_worker_core(py::module_& module) {
    py::class_<Operation, OperationPtr>(module, "Operation", "What a worker can be asked to do.")
        .def_property_readonly("name", [](const Operation& o) { return std::string(o.name); });
    py::class_<Draws>(module, "Draws", "A random stream of a worker.")
        .def("integer", &Draws::integer)
        .def("bernoulli", &Draws::bernoulli)
        .def("uniform", &Draws::uniform)
        .def("normal", &Draws::normal)
        .def("bits", &Draws::bits);
    CoreClass core(module, "WorkerCore", "The engine's side of a Worker.");
    define_facts(core);
    define_communication(core);
    define_state(core);
    define_work(core);
    module.def(
        "prepare_arrays", [] { (void)py::detail::npy_api::get(); },
        "Imports numpy for the engine. Call it once before methods run, by one thread at a time.");
    module.def("power", &elementary::pow, "Returns x to the y, with the same bits everywhere.");
}

}  // namespace paceline::python
