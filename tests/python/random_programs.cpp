// Programs of operations of workers, as data: the interpreter in C++ that
// tests/python/programs_test.py compares with the one in Python.
//
// The method "programs:run" has an option "program": a list of operations, each a list of a name
// and numbers, which every worker does in every step. A worker has its model x, four vectors v, two
// exchanges, a random stream and a state that all share.
//
// Usage: paceline_programs SCENARIO FOLDER
// Writes results.csv, timeline.csv and models.f64, the models of all workers of all points.
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <nlohmann/json.hpp>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/exchange/piece.hpp"
#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/cluster.hpp"
#include "algorithms/runtime/worker.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/algorithms/own_method.hpp"
#include "app/study/study_file.hpp"

using namespace paceline;

namespace {

constexpr double microsecond = 1e-6;

// One worker's program while it runs.
struct Machine {
    Machine(Worker& worker, const ExchangeOptions& with)
        : self(worker), options(with), draws(worker.stream("program")) {
        v.fill(Vector::zero_like(worker.model()));
        for (const char* name : {"", "exchange 1"})
            exchanges.push_back(
                std::make_unique<VectorExchange>(worker, options, Preparation{}, name));
    }

    Worker& self;
    SharedValue<ExchangeOptions> options;
    RandomStream draws;
    std::array<Vector, 4> v{Vector(self.model().layout()), Vector(self.model().layout()),
                            Vector(self.model().layout()), Vector(self.model().layout())};
    std::vector<std::unique_ptr<VectorExchange>> exchanges{};
    std::int64_t updates = 0;
};

std::size_t place(const Json& operation, std::size_t i) {
    return operation.at(i).get<std::size_t>();
}

Duration micros(double number) {
    return from_seconds(number * microsecond);
}

Bytes weight(Machine& m, const Json& given, const Vector& v) {
    return given.is_null() ? m.self.weigh(v) : Bytes{given.get<std::int64_t>()};
}

AllReducePlan plan(const Machine& m) {
    return m.options->aggregation.all_reduce;
}

Task<> gradient(Machine& m, const Json& op) {
    m.v.at(place(op, 1)) = co_await m.self.gradient(m.self.model());
}

Task<> compute(Machine& m, const Json& op) {
    const double rank = m.self.rank();
    co_await m.self.compute(micros(op.at(1).get<double>() + rank * op.at(2).get<double>()));
}

Task<> sleep(Machine& m, const Json& op) {
    co_await m.self.simulation().sleep(micros(op.at(1).get<double>()));
}

Task<> update(Machine& m, const Json& /*op*/) {
    co_await m.self.update();
}

Task<> barrier(Machine& m, const Json& /*op*/) {
    co_await m.self.barrier();
}

Task<> all_reduce(Machine& m, const Json& op) {
    const Vector& from = m.v.at(place(op, 1));
    const Bytes bytes = weight(m, op.at(3), from);
    m.v.at(place(op, 2)) = co_await m.self.all_reduce(from, plan(m), bytes);
}

Task<> pair(Machine& m, const Json& op) {
    const Vector& from = m.v.at(place(op, 1));
    const int first = m.self.rank() / 2 * 2;
    const GroupPtr group = m.self.group({first, first + 1});
    const Bytes bytes = m.self.weigh(from);
    m.v.at(place(op, 2)) = co_await m.self.all_reduce(from, plan(m), bytes, group);
}

Task<> average(Machine& m, const Json& op) {
    m.v.at(place(op, 2)) = co_await m.self.neighbor_average(m.v.at(place(op, 1)));
}

Task<> sum(Machine& m, const Json& op) {
    const Vector& from = m.v.at(place(op, 1));
    const Bytes bytes = weight(m, op.at(3), from);
    m.v.at(place(op, 2)) = co_await m.self.neighbor_sum(from, bytes);
}

Task<> aggregate(Machine& m, const Json& op) {
    VectorExchange& exchange = *m.exchanges.at(place(op, 1));
    m.v.at(place(op, 3)) = co_await exchange.aggregate(m.v.at(place(op, 2)));
}

Task<> mean_gradient(Machine& m, const Json& op) {
    VectorExchange& exchange = *m.exchanges.at(place(op, 1));
    if (!waits_for_backward(m.options->schedule.begin)) {
        m.v.at(place(op, 2)) = co_await exchange.mean_gradient(Vector(m.self.model()));
        co_return;
    }
    Vector g = co_await m.self.gradient(m.self.model());
    m.v.at(place(op, 2)) = co_await exchange.aggregate(std::move(g));
}

Task<> backward(Machine& m, const Json& op) {
    Vector& to = m.v.at(place(op, 1));
    const std::vector<Piece> pieces =
        pieces_of(m.self, m.options->schedule, m.options->codec.leave_out);
    const Backward pass = m.self.backward(m.self.model());
    for (const Piece& piece : pieces) {
        co_await pass.completed(piece.bucket);
        put_part(part_of(pass.gradient(), piece), piece, to);
    }
}

Task<> letter(Machine& m, const Json& op) {
    const int to = (m.self.rank() + op.at(1).get<int>()) % m.self.workers();
    Letter sent{.vector = m.v.at(place(op, 2)), .number = static_cast<double>(m.self.rank())};
    const Bytes bytes = m.self.weigh(*sent.vector);
    co_await m.self.mail().post(to, 0, std::move(sent), bytes);
    const Letter got = co_await m.self.mail().next_letter(0);
    Vector& into = m.v.at(place(op, 3));
    into = into + got.number * *got.vector;
}

Task<> combine(Machine& m, const Json& op) {
    const Vector& a = m.v.at(place(op, 2));
    const Vector& b = m.v.at(place(op, 4));
    m.v.at(place(op, 5)) = op.at(1).get<double>() * a + op.at(3).get<double>() * b;
    co_return;
}

Task<> step(Machine& m, const Json& op) {
    m.self.model() -= m.self.learning_rate() * m.v.at(place(op, 1));
    co_return;
}

Task<> beside(Machine& m, const Json& op) {
    const Vector& from = m.v.at(place(op, 1));
    const Bytes bytes = m.self.weigh(from);
    Pending<Vector> pending = m.self.start(m.self.all_reduce(from, plan(m), bytes));
    co_await m.self.compute(micros(op.at(3).get<double>()));
    m.v.at(place(op, 2)) = co_await std::move(pending);
}

Task<> draw(Machine& m, const Json& op) {
    boost::random::uniform_int_distribution<std::size_t> any(0, place(op, 1));
    co_await m.self.compute(micros(static_cast<double>(any(m.draws))));
}

Task<> shared(Machine& m, const Json& op) {
    const Vector& from = m.v.at(place(op, 1));
    const Bytes bytes = m.self.weigh(from);
    const Vector mean = co_await m.self.all_reduce(from, plan(m), bytes);
    Vector& state = m.self.replicated("of the program");
    m.self.once(m.updates++, [&] { state = state + mean; });
    m.v.at(place(op, 2)) = state;
}

using Operate = Task<> (*)(Machine& m, const Json& op);

Operate operation(const std::string& name) {
    static const std::map<std::string, Operate> all{
        {"gradient", &gradient},  {"compute", &compute},    {"sleep", &sleep},
        {"update", &update},      {"barrier", &barrier},    {"all_reduce", &all_reduce},
        {"pair", &pair},          {"average", &average},    {"sum", &sum},
        {"exchange", &aggregate}, {"mean", &mean_gradient}, {"backward", &backward},
        {"letter", &letter},      {"combine", &combine},    {"step", &step},
        {"beside", &beside},      {"draw", &draw},          {"shared", &shared}};
    return all.at(name);
}

Task<> run_program(Worker& self, std::shared_ptr<const Json> program, ExchangeOptions exchange) {
    Machine machine(self, exchange);
    while (self.begins_step())
        for (const Json& op : *program) {
            const Operate operate = operation(op.at(0).get<std::string>());
            co_await operate(machine, op);
        }
}

OwnMethodPtr find_method(const Place& kind) {
    if (*kind.json != "programs:run") return nullptr;
    OwnMethod method;
    method.options = {"program"};
    method.make = [](const Place& algorithm, const ExchangeOptions& exchange) {
        const auto program = std::make_shared<const Json>(algorithm.json->at("program"));
        return
            [program, exchange](Worker& worker) { return run_program(worker, program, exchange); };
    };
    return std::make_shared<const OwnMethod>(std::move(method));
}

void write(const std::string& file, const char* bytes, std::size_t size) {
    std::ofstream(file, std::ios::binary).write(bytes, static_cast<std::streamsize>(size));
}

void run_all(const std::string& file, const std::string& folder) {
    const Study study = read_study(open_scenario(file, {.method = &find_method}), {});
    std::vector<double> models;
    Observer observer;
    observer.ends = [&](const Cluster& cluster) {
        for (int rank = 0; rank < cluster.workers(); ++rank) {
            const Vector& model = cluster.worker(rank).current_model();
            if (!model.has_values()) return;
            models.insert(models.end(), model.values().begin(), model.values().end());
        }
    };
    std::vector<PointResult> results;
    for (const Point& point : study.points)
        results.push_back({run_point(point.scenario, nullptr, {}, &observer)});
    const RanPoints ran(study, results);
    const std::string rows = results_csv(ran);
    const std::string timeline = timeline_csv(ran);
    write(folder + "/results.csv", rows.data(), rows.size());
    write(folder + "/timeline.csv", timeline.data(), timeline.size());
    write(folder + "/models.f64", reinterpret_cast<const char*>(models.data()),
          models.size() * sizeof(double));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: paceline_programs SCENARIO FOLDER\n", stderr);
        return 2;
    }
    try {
        run_all(argv[1], argv[2]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "paceline_programs: %s\n", error.what());
        return 1;
    }
}
