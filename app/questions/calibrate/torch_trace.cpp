// Collectives in a trace of torch.profiler (Kineto's Chrome JSON), of one rank.
//
// A kernel of NCCL (category "kernel") has its duration in microseconds. What it sent stands in
// "Collective name", "In msg nelems", "Out msg nelems", "dtype" and "Group size": of the kernel
// itself, or, in older traces, of the operator record_param_comms that launched it. That operator
// has the kernel's "External id", or that of the launch with the kernel's "correlation".
//
// The larger of the two numbers of elements is the vector: an all-gather has its block in and all
// out, a reduce-scatter the reverse. A kernel also waits for ranks that come late, so of equal ones
// (operation, bytes, ranks) the shortest is taken.
//
// Traces are large, so events are read one by one and only NCCL's are kept.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/questions/calibrate/log_lines.hpp"
#include "app/questions/calibrate/tool_readers.hpp"

namespace paceline {

namespace {

constexpr std::string_view how_to_record =
    "record with ProfilerActivity.CPU and ProfilerActivity.CUDA and write with export_chrome_trace";

struct TorchMessage {
    std::string name{};  // "_allgather_base"
    std::string dtype{};
    std::int64_t in = 0;
    std::int64_t out = 0;
    std::int64_t group = 0;
};

struct TorchEvent {
    std::string phase{};
    std::string category{};
    std::string name{};
    double duration = 0;
    std::optional<std::int64_t> external{};
    std::optional<std::int64_t> correlation{};
    TorchMessage message{};
};

struct TorchKernel {
    std::size_t index = 0;  // in traceEvents
    std::string name{};
    double duration = 0;
    std::optional<std::int64_t> external{};
    std::optional<std::int64_t> correlation{};
    TorchMessage message{};
};

constexpr auto torch_operations = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"allreduce", "all-reduce"},
    {"all_reduce", "all-reduce"},
    {"allgather", "all-gather"},
    {"all_gather", "all-gather"},
    {"_allgather_base", "all-gather"},
    {"reduce_scatter", "reduce-scatter"},
    {"_reduce_scatter_base", "reduce-scatter"},
    {"broadcast", "broadcast"},
    {"_broadcast_oop", "broadcast"},
    {"reduce", "reduce"},
    {"_reduce_oop", "reduce"},
    {"all_to_all", "all-to-all"},
});

constexpr auto torch_dtypes = std::to_array<std::pair<std::string_view, std::int64_t>>({
    {"Byte", 1},
    {"Char", 1},
    {"Bool", 1},
    {"Float8_e4m3fn", 1},
    {"Float8_e5m2", 1},
    {"Float8_e4m3fnuz", 1},
    {"Float8_e5m2fnuz", 1},
    {"Short", 2},
    {"Half", 2},
    {"BFloat16", 2},
    {"Int", 4},
    {"Float", 4},
    {"Long", 8},
    {"Double", 8},
    {"ComplexFloat", 8},
    {"ComplexDouble", 16},
});

// What the parser has read: NCCL's kernels, and what leads from them to operators.
struct TorchEvents {
    std::vector<TorchKernel> kernels{};
    std::unordered_map<std::int64_t, TorchMessage> operators{};  // by External id
    std::unordered_map<std::int64_t, std::int64_t> launches{};   // correlation to External id

    void take(TorchEvent event, std::size_t index) {
        if (event.phase != "X") return;
        if (event.category == "kernel") {
            if (event.name.find("nccl") == std::string::npos && event.message.name.empty()) return;
            kernels.push_back({index, std::move(event.name), event.duration, event.external,
                               event.correlation, std::move(event.message)});
        } else if (!event.message.name.empty()) {
            if (event.external) operators.emplace(*event.external, std::move(event.message));
        } else if (event.external && event.correlation) {
            launches.emplace(*event.correlation, *event.external);
        }
    }
};

// Reads the events of a trace as the parser passes them: an object with the list traceEvents, or
// the list itself. What else is in there is passed over.
class TorchParser : public nlohmann::json_sax<nlohmann::json> {
  public:
    TorchParser(std::string file, std::string_view text, TorchEvents& events)
        : file_(std::move(file)), text_(text), events_(events) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t number) override { return integer(number); }
    bool number_unsigned(number_unsigned_t number) override {
        constexpr auto most =
            static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
        return number > most || integer(static_cast<std::int64_t>(number));
    }
    bool number_float(number_float_t number, const string_t&) override {
        if (is_field() && key_ == "dur") event_.duration = number;
        return true;
    }
    bool string(string_t& text) override {
        if (is_field() && key_ == "ph") event_.phase = text;
        if (is_field() && key_ == "cat") event_.category = text;
        if (is_field() && key_ == "name") event_.name = text;
        if (is_argument() && key_ == "Collective name") event_.message.name = text;
        if (is_argument() && key_ == "dtype") event_.message.dtype = text;
        return true;
    }
    bool binary(binary_t&) override { return true; }
    bool key(string_t& name) override {
        key_ = name;
        return true;
    }
    bool start_object(std::size_t) override {
        ++depth_;
        if (events_depth_ == 0) return true;
        if (depth_ == events_depth_ + 1) event_ = {};
        if (depth_ == events_depth_ + 2) in_arguments_ = key_ == "args";
        return true;
    }
    bool end_object() override {
        if (events_depth_ > 0 && depth_ == events_depth_ + 1)
            events_.take(std::move(event_), index_++);
        if (depth_ == events_depth_ + 2) in_arguments_ = false;
        --depth_;
        return true;
    }
    bool start_array(std::size_t) override {
        ++depth_;
        if (events_depth_ == 0 && (depth_ == 1 || (depth_ == 2 && key_ == "traceEvents")))
            events_depth_ = depth_;
        return true;
    }
    bool end_array() override {
        if (depth_ == events_depth_) events_depth_ = 0;
        --depth_;
        return true;
    }
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::json::exception&) override {
        const std::string_view before = text_.substr(0, std::min(position, text_.size()));
        throw ConfigError(file_, fmt::format("line {}", std::ranges::count(before, '\n') + 1),
                          fmt::format("the JSON breaks off or is damaged here; {}", how_to_record));
    }

  private:
    // A field of an event, and not of something inside it.
    [[nodiscard]] bool is_field() const { return events_depth_ > 0 && depth_ == events_depth_ + 1; }
    [[nodiscard]] bool is_argument() const {
        return events_depth_ > 0 && depth_ == events_depth_ + 2 && in_arguments_;
    }

    bool integer(std::int64_t number) {
        if (is_field() && key_ == "dur") event_.duration = static_cast<double>(number);
        if (!is_argument()) return true;
        if (key_ == "External id") event_.external = number;
        if (key_ == "correlation") event_.correlation = number;
        if (key_ == "In msg nelems") event_.message.in = number;
        if (key_ == "Out msg nelems") event_.message.out = number;
        if (key_ == "Group size") event_.message.group = number;
        return true;
    }

    std::string file_;
    std::string_view text_;
    TorchEvents& events_;
    TorchEvent event_{};
    std::string key_{};
    int depth_ = 0;
    int events_depth_ = 0;  // of the list of events; 0: not in it
    bool in_arguments_ = false;
    std::size_t index_ = 0;
};

std::string place_of(const TorchKernel& kernel) {
    return fmt::format("traceEvents[{}]", kernel.index);
}

// Returns the External id of the operator that launched a kernel.
std::optional<std::int64_t> launcher_of(const TorchKernel& kernel, const TorchEvents& events) {
    if (kernel.external && events.operators.contains(*kernel.external)) return kernel.external;
    if (!kernel.correlation) return kernel.external;
    const auto launch = events.launches.find(*kernel.correlation);
    return launch == events.launches.end() ? kernel.external : std::optional(launch->second);
}

struct TorchSample {
    std::string_view operation;
    std::int64_t bytes = 0;
    int ranks = 0;
    double microseconds = 0;
    std::size_t index = 0;
};

// Returns why a kernel cannot be taken, or fills the sample.
std::string sample_of(const TorchKernel& kernel, const TorchMessage& message, TorchSample& sample) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
    constexpr std::int64_t most_ranks = 1'000'000;
    const auto* const operation = std::ranges::find(
        torch_operations, message.name, &std::pair<std::string_view, std::string_view>::first);
    if (operation == torch_operations.end())
        return fmt::format("\"{}\" is left out: {}", one_line(message.name, 40),
                           message.name == "send" || message.name == "recv"
                               ? "a trace does not say which machines it joins"
                               : "it is not an all-reduce, all-gather, reduce-scatter, broadcast, "
                                 "reduce or all-to-all of one vector");
    const auto* const dtype = std::ranges::find(torch_dtypes, message.dtype,
                                                &std::pair<std::string_view, std::int64_t>::first);
    if (dtype == torch_dtypes.end())
        return fmt::format(
            "the dtype \"{}\" is not known, so the number of bytes is not known either",
            one_line(message.dtype, 40));
    const std::int64_t elements = std::max(message.in, message.out);
    if (elements <= 0 || elements > most_bytes / dtype->second)
        return "\"In msg nelems\" and \"Out msg nelems\" give no size";
    if (message.group < 1 || message.group > most_ranks)
        return "\"Group size\" is missing or not a size";
    if (message.group == 1) return "a group of one rank sends nothing";
    if (!(kernel.duration > 0) || !std::isfinite(kernel.duration))
        return "\"dur\" is not a number greater than 0";
    sample = {operation->second, elements * dtype->second, static_cast<int>(message.group),
              kernel.duration, kernel.index};
    return {};
}

std::vector<TorchSample> samples_of(const TorchEvents& events, LeftOut& left_out) {
    std::unordered_map<std::int64_t, int> kernels_of;  // by launcher
    for (const TorchKernel& kernel : events.kernels)
        if (const auto launcher = launcher_of(kernel, events)) ++kernels_of[*launcher];
    std::vector<TorchSample> samples;
    for (const TorchKernel& kernel : events.kernels) {
        const auto launcher = launcher_of(kernel, events);
        const TorchMessage* message = &kernel.message;
        if (message->name.empty() && launcher)
            if (const auto found = events.operators.find(*launcher);
                found != events.operators.end())
                message = &found->second;
        if (message->name.empty()) {
            left_out.add(
                "neither the NCCL kernel nor its launch records what was sent, as in traces of "
                "older versions of PyTorch",
                place_of(kernel));
            continue;
        }
        if (launcher && kernels_of[*launcher] > 1) {
            left_out.add("one call launched several NCCL kernels, whose shares are not known",
                         place_of(kernel));
            continue;
        }
        TorchSample sample;
        if (const std::string why = sample_of(kernel, *message, sample); !why.empty())
            left_out.add(why, place_of(kernel));
        else
            samples.push_back(sample);
    }
    return samples;
}

// Adds the shortest of equal samples, in the order of their first kernels.
void add_shortest(const std::string& file, const std::vector<TorchSample>& samples,
                  MeasuredCollectives& measured) {
    std::vector<std::vector<TorchSample>> equals;
    std::map<std::tuple<std::string_view, std::int64_t, int>, std::size_t> place;
    for (const TorchSample& sample : samples) {
        const auto [found, is_new] =
            place.try_emplace({sample.operation, sample.bytes, sample.ranks}, equals.size());
        if (is_new) equals.emplace_back();
        equals[found->second].push_back(sample);
    }
    for (const std::vector<TorchSample>& same : equals) {
        const auto [shortest, longest] =
            std::ranges::minmax_element(same, {}, &TorchSample::microseconds);
        measured.rows.push_back({.where = fmt::format("{}, traceEvents[{}]", file, shortest->index),
                                 .operation = std::string(shortest->operation),
                                 .bytes = shortest->bytes,
                                 .ranks = shortest->ranks,
                                 .machines = std::nullopt,
                                 .seconds = shortest->microseconds * 1e-6});
        if (same.size() > 1)
            measured.left_out.push_back(
                fmt::format("traceEvents[{}]: is the shortest of {} kernels of {} with {} bytes "
                            "over {} ranks, {} to "
                            "{} us; the others may have waited for ranks that came late",
                            shortest->index, same.size(), shortest->operation, shortest->bytes,
                            shortest->ranks, shortest->microseconds, longest->microseconds));
    }
}

}  // namespace

bool is_torch_trace(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    if (text[first] == '{') return text.find("\"traceEvents\"") != std::string_view::npos;
    return text[first] == '[' && text.find("\"ph\"") != std::string_view::npos &&
           text.find("\"cat\"") != std::string_view::npos;
}

MeasuredCollectives read_torch_trace(const std::string& file, std::string_view text) {
    TorchEvents events;
    TorchParser parser(file, text, events);
    nlohmann::json::sax_parse(text.begin(), text.end(), &parser);
    if (events.kernels.empty())
        throw ConfigError(file, "traceEvents",
                          fmt::format("has no NCCL kernel; {}", how_to_record));
    LeftOut left_out;
    const std::vector<TorchSample> samples = samples_of(events, left_out);
    MeasuredCollectives measured{.tool = "torch.profiler"};
    add_shortest(file, samples, measured);
    for (std::string& line : left_out.texts()) measured.left_out.push_back(std::move(line));
    if (measured.rows.empty())
        throw ConfigError(file, "",
                          fmt::format("no NCCL kernel can be used; {}", measured.left_out.front()));
    return measured;
}

}  // namespace paceline
