#include "analysis/forms/choco_forms.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "analysis/forms/compressed_step_models.hpp"
#include "analysis/forms/inside_forms.hpp"
#include "analysis/forms/neighbor_forms.hpp"

namespace paceline {

namespace {

struct DifferenceOfPiece {
    Bytes dense;
    Bytes message;
    Duration ready;   // of its gradient, from the beginning of backward
    Duration coding;  // K
};

// What the steps of a choice of options have in common.
struct ChocoForm {
    const ChocoSgdOptions& options;
    const Mixing& mixing;
    const StepModelInput& in;
    std::vector<DifferenceOfPiece> pieces{};

    [[nodiscard]] bool by_machine() const {
        return options.exchange.aggregation.machines != ByMachine::flat;
    }
    [[nodiscard]] bool beside() const {
        return !waits_for_backward(options.exchange.schedule.begin);
    }
    [[nodiscard]] Duration all_coding() const {
        Duration all{};
        for (const DifferenceOfPiece& piece : pieces) all = sum(all, piece.coding);
        return all;
    }
    /// Returns T1 + K + U.
    [[nodiscard]] Duration work() const {
        return sum(sum(in.timing.step, all_coding()), in.update);
    }
    [[nodiscard]] Bytes all_messages() const {
        Bytes all;
        for (const DifferenceOfPiece& piece : pieces) all += piece.message;
        return all;
    }
};

void add_differences(ChocoForm& form) {
    const StepModelInput& in = form.in;
    const auto& compressor = std::get<Compressor>(form.options.exchange.codec.coder);
    const auto degree = static_cast<std::int64_t>(form.mixing.listeners(0).size());
    const auto add = [&](const Layout& layout, Duration ready) {
        form.pieces.push_back({fp32.weigh(layout.entries()), form_of_packed(compressor, layout),
                               ready, choco_coding_time(form.options, layout, degree)});
    };
    if (form.options.exchange.schedule.whole) {
        add(*in.layout, in.timing.step);
        return;
    }
    for (const Bucket& bucket : in.timing.buckets)
        add(*part_of(*in.layout, in.layout->offset(bucket.first),
                     in.layout->offset(bucket.first + bucket.count)),
            bucket.ready);
}

// Returns when the last of the messages has come that a step beside backward sends.
std::optional<Duration> last_arrival(const ChocoForm& form) {
    Duration end{};
    Duration coding = form.all_coding();
    Bytes left;
    for (std::size_t i = form.pieces.size(); i-- > 0;) {
        const DifferenceOfPiece& piece = form.pieces[i];
        left += piece.message;
        const std::optional<Duration> messages =
            neighbor_messages_time(form.mixing, left, form.in.network);
        if (!messages) return std::nullopt;
        end = std::max(end, sum(sum(piece.ready, coding), *messages));
        coding = coding - piece.coding;
    }
    return end;
}

std::optional<Duration> flat_step(const ChocoForm& form, std::int64_t step) {
    if (form.beside()) {
        const std::optional<Duration> arrived = last_arrival(form);
        const Duration work = form.work();
        if (!arrived) return std::nullopt;
        if (step > 0 && *arrived > sum(work, form.pieces.front().ready)) return std::nullopt;
        return work;
    }
    const std::optional<Duration> messages =
        neighbor_messages_time(form.mixing, form.all_messages(), form.in.network);
    if (!messages) return std::nullopt;
    if (step == 0) return form.work();
    return sum(sum(std::max(form.in.timing.step, *messages), form.all_coding()), form.in.update);
}

std::optional<Duration> step_by_leaders(const ChocoForm& form, std::int64_t step) {
    const int g = form.options.exchange.aggregation.devices;
    const IdleNetwork& network = form.in.network;
    if (form.beside() || (g > 1 && !network.bus)) return std::nullopt;
    if (g != network.devices) return std::nullopt;  // groups of a level above the machine
    const IdleStar bus = network.bus.value_or(network.star);
    const std::optional<Duration> messages =
        neighbor_messages_time(form.mixing, form.all_messages(), between_leaders(network));
    if (!messages || (step > 0 && *messages > form.in.timing.step)) return std::nullopt;
    Duration time = form.work();
    for (const DifferenceOfPiece& piece : form.pieces)
        time = sum(time, 2 * inside_machine_time(g, piece.dense, bus));
    return time;
}

ChocoForm form_of(const ChocoSgdOptions& options, const Mixing& mixing, const StepModelInput& in) {
    ChocoForm form{options, mixing, in};
    add_differences(form);
    return form;
}

}  // namespace

std::optional<Duration> choco_sgd_step_time(const ChocoSgdOptions& options, const Mixing& mixing,
                                            std::int64_t step, const StepModelInput& in) {
    const ChocoForm form = form_of(options, mixing, in);
    return form.by_machine() ? step_by_leaders(form, step) : flat_step(form, step);
}

std::int64_t choco_sgd_messages(const ChocoSgdOptions& options, const Mixing& mixing,
                                std::int64_t step, const StepModelInput& in) {
    const bool sends = step > 0 || !waits_for_backward(options.exchange.schedule.begin);
    std::int64_t edges = 0;
    for (int i = 0; sends && i < mixing.nodes(); ++i)
        edges += static_cast<std::int64_t>(mixing.listeners(i).size());
    return neighbor_exchange_messages(options.exchange, edges, 1, in);
}

}  // namespace paceline
