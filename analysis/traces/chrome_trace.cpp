#include "analysis/traces/chrome_trace.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <tuple>

#include <fmt/format.h>

namespace paceline {

namespace {

enum class Kind : std::uint8_t { steps, compute, collectives, waiting, up, down, bus_out, bus_in };

constexpr std::array<std::string_view, 8> names_of_kinds{
    "steps", "compute", "collectives", "waiting", "up", "down", "bus out", "bus in"};

constexpr bool of_messages(Kind kind) {
    return kind >= Kind::up;
}
constexpr bool receives(Kind kind) {
    return kind == Kind::down || kind == Kind::bus_in;
}

// A slice in the file.
struct Span {
    Time begin;
    Time end;
    int process = 0;
    int device = 0;
    Kind kind = Kind::steps;
    std::uint32_t index = 0;  // index of the record's slice or message
};

// A thread in the file. Its spans nest or follow one another.
struct Lane {
    int process = 0;
    int device = 0;
    Kind kind = Kind::steps;
    int number = 0;  // among lanes of the same kind
    std::uint32_t thread = 0;
    std::vector<Span> spans{};
    std::vector<Time> open{};  // ends of the spans that may enclose the next one
};

enum class Phase : std::uint8_t { begin, end, arrow_begins, arrow_ends, counter };

// A line in the file that has a time.
struct Line {
    Time at;
    Phase phase = Phase::begin;
    std::uint32_t lane = 0;   // of counters: number of the counter
    std::uint32_t index = 0;  // of the slice or message; of counters: of the use
    std::uint32_t order = 0;  // among lines at the same time
};

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

// Prints three digits, which are enough for a name.
std::string short_size(Bytes size) {
    const auto count = static_cast<double>(size.count);
    if (size.count < 1'000) return fmt::format("{} B", size.count);
    if (size.count < 1'000'000) return fmt::format("{:.3g} kB", count * 1e-3);
    if (size.count < 1'000'000'000) return fmt::format("{:.3g} MB", count * 1e-6);
    return fmt::format("{:.4g} GB", count * 1e-9);
}

// Decodes the stream numbers of algorithms/runtime/worker.cpp.
std::string name_of_stream(Stream stream) {
    constexpr unsigned round_bits = 40;
    constexpr Stream second = Stream{1} << 63U;
    constexpr Stream copy = Stream{1} << 61U;
    const Stream rest = stream & ~second;
    if ((rest & copy) != 0) return "copy for a node that returns";
    if (rest == 0) return "mail";
    if (rest >> round_bits == 0) return fmt::format("box {}", rest - 1);
    // Of several rings, ring 0 has the stream of the round (ring_stream of sim/collectives)
    constexpr unsigned ring_bits = 28;
    const Stream round = rest & ((Stream{1} << round_bits) - 1);
    const Stream ring = round >> ring_bits;
    return fmt::format(
        "group {} round {}{}{}", rest >> round_bits, round & ((Stream{1} << ring_bits) - 1),
        ring == 0 ? "" : fmt::format(", ring {}", ring), (stream & second) == 0 ? "" : ", answers");
}

class Writer {
  public:
    Writer(const TraceRecorder& record, const TextSink& sink) : record_(record), sink_(sink) {}

    void write(const TraceFacts& facts);

  private:
    [[nodiscard]] const TraceProcess& process(int number) const {
        return record_.machine().processes[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] const TraceHost& host(int number) const {
        return record_.machine().hosts[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] std::string name_of_host(int number) const;
    [[nodiscard]] static int pid(int process) { return process + 1; }
    [[nodiscard]] int links_process() const {
        return static_cast<int>(record_.machine().processes.size());
    }

    [[nodiscard]] std::vector<Span> spans() const;
    void add_spans(const TraceMessage& message, std::uint32_t index, std::vector<Span>& all) const;
    [[nodiscard]] bool has_arrow(const TraceMessage& message) const;
    void deal_into_lanes(std::vector<Span> spans);
    void place(const Span& span, std::size_t first);
    void add_line(Time at, Phase phase, std::uint32_t lane, std::uint32_t index) {
        lines_.push_back({at, phase, lane, index, static_cast<std::uint32_t>(lines_.size())});
    }
    void add_lines(std::uint32_t number);
    void end_span(std::uint32_t lane, const Span& span);
    void add_counters();

    void name_processes();
    void name_threads();
    void write_line(const Line& line);
    void begin_slice(const Lane& lane, const TraceSlice& slice);
    void begin_message(const Lane& lane, const TraceMessage& message);
    void write_cut();
    template <class... Arguments>
    void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    }
    void next_event();
    void flush();

    struct CounterName {
        int process;
        std::string name;
    };
    /// Returns a thread of the process, for events without one; otherwise viewers would invent a
    /// thread.
    [[nodiscard]] std::uint32_t some_thread_of(int number) const;

    const TraceRecorder& record_;
    const TextSink& sink_;
    std::vector<Lane> lanes_;
    std::vector<Line> lines_;
    std::vector<CounterName> counters_;
    fmt::memory_buffer text_;
    bool first_ = true;
};

std::string Writer::name_of_host(int number) const {
    const TraceHost& at = host(number);
    if (at.process < 0) return fmt::format("host {}", number);
    const TraceProcess& of = process(at.process);
    return of.devices > 1 ? fmt::format("{} device {}", of.name, at.device) : of.name;
}

// --- spans, lanes, lines ---

std::vector<Span> Writer::spans() const {
    std::vector<Span> all;
    all.reserve(record_.slices().size() + 2 * record_.messages().size());
    for (std::uint32_t i = 0; i < record_.slices().size(); ++i) {
        const TraceSlice& slice = record_.slices()[i];
        const TraceHost& at = host(slice.host);
        all.push_back(
            {slice.begin, slice.end, at.process, at.device, static_cast<Kind>(slice.track), i});
    }
    for (std::uint32_t i = 0; i < record_.messages().size(); ++i)
        add_spans(record_.messages()[i], i, all);
    return all;
}

// When a message's first and last bytes are received, within the trace.
struct Reception {
    Time begin;
    Time end;
};

std::optional<Reception> reception_of(const TraceMessage& message, Time end) {
    const Time drained = message.drained;
    Time arrived = message.arrived;
    if (arrived == never && drained != never) arrived = later(drained, message.latency);
    const Time begin = arrived == never ? later(message.first_byte, message.latency)
                                        : arrived - (drained - message.first_byte);
    if (message.arrived == never && begin >= end) return std::nullopt;
    return Reception{begin, message.arrived != never ? arrived : std::min(arrived, end)};
}

void Writer::add_spans(const TraceMessage& message, std::uint32_t index,
                       std::vector<Span>& all) const {
    const TraceHost& from = host(message.from);
    const TraceHost& to = host(message.to);
    const bool inside = from.process == to.process;
    const Time end = record_.end();
    if (message.shows_sender)
        all.push_back({message.begin, std::min(message.drained, end), from.process,
                       inside ? from.device : 0, inside ? Kind::bus_out : Kind::up, index});
    if (!message.shows_receiver) return;
    if (const auto reception = reception_of(message, end))
        all.push_back({reception->begin, reception->end, to.process, inside ? to.device : 0,
                       inside ? Kind::bus_in : Kind::down, index});
}

bool Writer::has_arrow(const TraceMessage& message) const {
    return message.shows_sender && message.shows_receiver &&
           reception_of(message, record_.end()).has_value();
}

// Sorts by the file's processes and threads. Of spans that begin together, outer ones come first if
// spans nest, and empty ones come first if spans follow one another.
void Writer::deal_into_lanes(std::vector<Span> spans) {
    const auto order = [](const Span& span) {
        const auto length = (span.end - span.begin).count();
        return std::tuple(span.process, span.kind >= Kind::up ? 1 : 0, span.device, span.kind,
                          span.begin, of_messages(span.kind) ? length : -length, span.index);
    };
    std::ranges::sort(spans, {}, order);
    std::size_t first = 0;  // first lane of this process, device and kind
    for (const Span& span : spans) {
        const bool another = lanes_.empty() || lanes_.back().process != span.process ||
                             lanes_.back().device != span.device || lanes_.back().kind != span.kind;
        if (another) first = lanes_.size();
        place(span, first);
    }
    auto thread = static_cast<std::uint32_t>(record_.machine().processes.size()) + 1;
    for (Lane& lane : lanes_) lane.thread = ++thread;
}

void Writer::place(const Span& span, std::size_t first) {
    for (std::size_t i = first;; ++i) {
        if (i == lanes_.size())
            lanes_.push_back({span.process, span.device, span.kind, static_cast<int>(i - first)});
        Lane& lane = lanes_[i];
        while (!lane.open.empty() && lane.open.back() <= span.begin) lane.open.pop_back();
        const bool fits =
            lane.open.empty() || (!of_messages(span.kind) && lane.open.back() >= span.end);
        if (!fits) continue;
        lane.open.push_back(span.end);
        lane.spans.push_back(span);
        return;
    }
}

void Writer::add_lines(std::uint32_t number) {
    const Lane& lane = lanes_[number];
    std::vector<Span> open;
    const auto end_until = [&](Time begin) {
        for (; !open.empty() && open.back().end <= begin; open.pop_back())
            end_span(number, open.back());
    };
    for (const Span& span : lane.spans) {
        end_until(span.begin);
        add_line(span.begin, Phase::begin, number, span.index);
        if (of_messages(lane.kind) && !receives(lane.kind) &&
            has_arrow(record_.messages()[span.index]))
            add_line(span.begin, Phase::arrow_begins, number, span.index);
        open.push_back(span);
    }
    end_until(never);
}

void Writer::end_span(std::uint32_t lane, const Span& span) {
    if (receives(lanes_[lane].kind) && has_arrow(record_.messages()[span.index]))
        add_line(span.end, Phase::arrow_ends, lane, span.index);
    add_line(span.end, Phase::end, lane, span.index);
}

void Writer::add_counters() {
    std::map<LinkId, std::vector<std::uint32_t>> numbers;
    for (const auto& [link, names] : record_.counters())
        for (const TraceCounter& counter : names) {
            numbers[link].push_back(static_cast<std::uint32_t>(counters_.size()));
            counters_.push_back(
                {counter.process < 0 ? links_process() : counter.process, counter.name});
        }
    for (std::uint32_t i = 0; i < record_.uses().size(); ++i)
        for (const std::uint32_t number : numbers[record_.uses()[i].link])
            add_line(record_.uses()[i].at, Phase::counter, number, i);
}

// --- text ---

void Writer::next_event() {
    if (text_.size() > (1U << 20U)) flush();
    put("{}", std::exchange(first_, false) ? "\n" : ",\n");
}

void Writer::flush() {
    sink_({text_.data(), text_.size()});
    text_.clear();
}

std::uint32_t Writer::some_thread_of(int number) const {
    const auto found = std::ranges::lower_bound(lanes_, number, {}, &Lane::process);
    return found == lanes_.end() || found->process != number
               ? static_cast<std::uint32_t>(pid(number))
               : found->thread;
}

void Writer::name_processes() {
    const auto name = [this](int number, std::string_view text) {
        const std::uint32_t thread = some_thread_of(number);
        next_event();
        put(R"({{"ph":"M","name":"process_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
            pid(number), thread, escaped(text));
        next_event();
        put(R"({{"ph":"M","name":"process_sort_index","pid":{},"tid":{},)"
            R"("args":{{"sort_index":{}}}}})",
            pid(number), thread, number);
    };
    for (int number = 0; number < links_process(); ++number)
        if (process(number).chosen) name(number, process(number).name);
    const bool has_links = std::ranges::any_of(
        counters_, [this](const CounterName& c) { return c.process == links_process(); });
    if (has_links) name(links_process(), "links");
}

void Writer::name_threads() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const Lane& lane = lanes_[i];
        std::string name(names_of_kinds[static_cast<std::size_t>(lane.kind)]);
        if (process(lane.process).devices > 1 && lane.kind != Kind::up && lane.kind != Kind::down)
            name = fmt::format("device {}: {}", lane.device, name);
        if (lane.number > 0) name += fmt::format(" ({})", lane.number + 1);
        next_event();
        put(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
            pid(lane.process), lane.thread, name);
        next_event();
        put(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},)"
            R"("args":{{"sort_index":{}}}}})",
            pid(lane.process), lane.thread, i);
    }
}

void Writer::write_line(const Line& line) {
    next_event();
    if (line.phase == Phase::counter) {
        const CounterName& counter = counters_[line.lane];
        put(R"({{"ph":"C","name":"{}","pid":{},"tid":{},"ts":{},"args":{{"use":{:.6g}}}}})",
            escaped(counter.name), pid(counter.process), some_thread_of(counter.process),
            microseconds(line.at), record_.uses()[line.index].millionths * 1e-6);
        return;
    }
    const Lane& lane = lanes_[line.lane];
    const auto arrow = [&](char phase, std::string_view binding) {
        put(R"({{"ph":"{}","cat":"message","name":"message","id":{},"pid":{},"tid":{},"ts":{}{}}})",
            phase, line.index + 1, pid(lane.process), lane.thread, microseconds(line.at), binding);
    };
    if (line.phase == Phase::arrow_begins) return arrow('s', "");
    if (line.phase == Phase::arrow_ends) return arrow('f', R"(,"bp":"e")");
    if (line.phase == Phase::begin) {
        if (of_messages(lane.kind)) return begin_message(lane, record_.messages()[line.index]);
        return begin_slice(lane, record_.slices()[line.index]);
    }
    put(R"({{"ph":"E","pid":{},"tid":{},"ts":{}}})", pid(lane.process), lane.thread,
        microseconds(line.at));
}

void Writer::begin_slice(const Lane& lane, const TraceSlice& slice) {
    put(R"({{"ph":"B","cat":"{}","name":"{}{}","pid":{},"tid":{},"ts":{})",
        names_of_kinds[static_cast<std::size_t>(lane.kind)], slice.name,
        slice.number ? fmt::format(" {}", *slice.number) : "", pid(lane.process), lane.thread,
        microseconds(slice.begin));
    if (slice.stream)
        put(R"(,"args":{{"stream":"{}"{}}})", name_of_stream(*slice.stream),
            slice.cut ? R"(,"cut":true)" : "");
    else if (slice.cut)
        put(R"(,"args":{{"cut":true}})");
    put("}}");
}

void Writer::begin_message(const Lane& lane, const TraceMessage& message) {
    const bool in = receives(lane.kind);
    const Time begin = in ? reception_of(message, record_.end()).value().begin : message.begin;
    put(R"({{"ph":"B","cat":"message","name":"message {} {}, {}",)"
        R"("pid":{},"tid":{},"ts":{},"args":)",
        in ? "from" : "to", escaped(name_of_host(in ? message.from : message.to)),
        short_size(message.size), pid(lane.process), lane.thread, microseconds(begin));
    put(R"({{"bytes":{},"from":"{}","to":"{}","stream":"{}","latency_us":{})", message.sent.count,
        escaped(name_of_host(message.from)), escaped(name_of_host(message.to)),
        name_of_stream(message.stream), microseconds(Time{message.latency}));
    if (message.drained != never && message.drained > message.first_byte)
        put(R"(,"mean_bits_per_second":{:.9g})",
            8 * static_cast<double>(message.sent.count) /
                to_seconds(message.drained - message.first_byte));
    if (message.restarts > 0) put(R"(,"restarts":{})", message.restarts);
    if (message.lost) put(R"(,"lost":true)");
    if (message.cut) put(R"(,"cut":true)");
    put("}}}}");
}

// Marks the cut, across all processes.
void Writer::write_cut() {
    if (!record_.cut_at()) return;
    next_event();
    put(R"({{"ph":"i","s":"g","name":"the trace is cut here: limit of {} events",)"
        R"("pid":1,"tid":{},"ts":{}}})",
        record_.filter().limit, lanes_.empty() ? 1 : lanes_.front().thread,
        microseconds(*record_.cut_at()));
}

void Writer::write(const TraceFacts& facts) {
    deal_into_lanes(spans());
    for (const bool receivers : {false, true})
        for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane)
            if (receives(lanes_[lane].kind) == receivers) add_lines(lane);
    add_counters();
    std::ranges::sort(lines_, {}, [](const Line& line) { return std::pair(line.at, line.order); });

    put("{{\"traceEvents\":[");
    name_processes();
    name_threads();
    for (const Line& line : lines_) write_line(line);
    write_cut();
    put("\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{{");
    put(R"("events":"{}")", lines_.size());
    for (const auto& [key, value] : facts) put(",\n\"{}\":\"{}\"", escaped(key), escaped(value));
    put("}}}}\n");
    flush();
}

}  // namespace

std::string microseconds(Time time) {
    constexpr std::int64_t ps_per_us = 1'000'000;
    const std::int64_t ps = time.time_since_epoch().count();
    std::string text = fmt::format("{}", ps / ps_per_us);
    if (ps % ps_per_us == 0) return text;
    text += fmt::format(".{:06}", ps % ps_per_us);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

void write_chrome_trace(const TraceRecorder& record, const TraceFacts& facts,
                        const TextSink& sink) {
    Writer(record, sink).write(facts);
}

}  // namespace paceline
