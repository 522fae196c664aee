// Reads a trace as viewers do, and holds it to the rules of the format that Perfetto is strict about:
// written without the writer's code, from the rules.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline {

struct TracedSlice {
    std::string process;
    std::string thread;
    std::string name;
    std::int64_t begin_ps = 0;
    std::int64_t end_ps = 0;
    nlohmann::json args;
    std::size_t depth = 0;  // 0: lies in no other
};

struct TracedUse {
    std::string process;
    std::string name;
    std::int64_t at_ps = 0;
    double use = 0;
};

struct TracedArrow {
    TracedSlice from;  // as far as it is known where the arrow begins
    std::string to_process;
    std::int64_t begin_ps = 0;
    std::int64_t end_ps = 0;
};

class TraceFile {
  public:
    /// Throws std::runtime_error, saying which rule an event breaks.
    explicit TraceFile(const std::string& text) : json_(nlohmann::json::parse(text)) {
        require(json_.at("displayTimeUnit") == "ns", "times are shown in ns");
        for (const nlohmann::json& event : json_.at("traceEvents")) name(event);
        for (const nlohmann::json& event : json_.at("traceEvents")) {
            if (event.at("ph") == "M") continue;
            read(event);
            ++events;
        }
        for (const auto& [thread, open] : open_) require(open.empty(), "every slice ends");
        require(begun_.empty(), "every arrow ends");
    }

    std::vector<TracedSlice> slices;  // in the order of their ends
    std::vector<TracedUse> uses;
    std::vector<TracedArrow> arrows;
    std::vector<std::string> instants;
    std::size_t events = 0;  // without names

    [[nodiscard]] const nlohmann::json& facts() const { return json_.at("otherData"); }
    [[nodiscard]] std::set<std::string> processes() const {
        std::set<std::string> names;
        for (const auto& [pid, name] : processes_) names.insert(name);
        return names;
    }
    /// Slices of a thread, and of its further lanes.
    [[nodiscard]] std::vector<TracedSlice> on(const std::string& process,
                                              const std::string& thread) const {
        std::vector<TracedSlice> found;
        for (const TracedSlice& slice : slices)
            if ((process.empty() || slice.process == process) &&
                (slice.thread == thread || slice.thread.starts_with(thread + " (")))
                found.push_back(slice);
        return found;
    }

  private:
    static void require(bool holds, const std::string& rule) {
        if (!holds) throw std::runtime_error(rule);
    }
    static std::int64_t ps_of(const nlohmann::json& event) {
        return std::llround(event.at("ts").get<double>() * 1e6);
    }

    void name(const nlohmann::json& event) {
        if (event.at("ph") != "M") return;
        const std::string& what = event.at("name").get_ref<const std::string&>();
        const int pid = event.at("pid").get<int>();
        if (what == "process_name")
            require(processes_.emplace(pid, event.at("args").at("name")).second,
                    "a process has one name");
        if (what != "thread_name") return;
        const int thread = event.at("tid").get<int>();
        require(threads_.emplace(thread, event.at("args").at("name")).second,
                "a thread's number is its own in the whole file");
        process_of_[thread] = pid;
    }

    void read(const nlohmann::json& event) {
        const std::string phase = event.at("ph");
        const std::int64_t at = ps_of(event);
        require(at >= last_ps_, "events stand in the order of time");
        last_ps_ = at;
        const int pid = event.at("pid").get<int>();
        require(processes_.contains(pid), "a process has a name");
        if (phase == "C") return read_use(event, at);
        if (phase == "i") return instants.push_back(event.at("name"));
        const int thread = event.at("tid").get<int>();
        require(threads_.contains(thread), "a thread has a name");
        require(process_of_.at(thread) == pid, "a thread belongs to one process");
        std::vector<TracedSlice>& open = open_[thread];
        if (phase == "B") {
            open.push_back({processes_.at(pid), threads_.at(thread), event.at("name"), at, 0,
                            event.value("args", nlohmann::json::object()), open.size()});
        } else if (phase == "E") {
            require(!open.empty(), "a slice ends that has begun");
            open.back().end_ps = at;
            slices.push_back(open.back());
            open.pop_back();
        } else {
            read_arrow(event, phase, at, open);
        }
    }

    void read_use(const nlohmann::json& event, std::int64_t at) {
        const double use = event.at("args").at("use").get<double>();
        require(use >= 0 && use <= 1, "a use is a share");
        uses.push_back({processes_.at(event.at("pid").get<int>()), event.at("name"), at, use});
    }

    void read_arrow(const nlohmann::json& event, const std::string& phase, std::int64_t at,
                    const std::vector<TracedSlice>& open) {
        require(phase == "s" || phase == "f", "phases are known");
        require(!open.empty(), "an arrow lies in a slice");
        const auto id = event.at("id").get<std::uint64_t>();
        if (phase == "s") {
            require(known_.insert(id).second, "an arrow begins once");
            begun_.emplace(id, TracedArrow{open.back(), "", at, 0});
            return;
        }
        require(event.at("bp") == "e", "an arrow ends in the slice around it");
        const auto found = begun_.find(id);
        require(found != begun_.end(), "an arrow ends once, and behind its beginning");
        found->second.to_process = open.back().process;
        found->second.end_ps = at;
        arrows.push_back(found->second);
        begun_.erase(found);
    }

    nlohmann::json json_;
    std::map<int, std::string> processes_;
    std::map<int, std::string> threads_;
    std::map<int, int> process_of_;
    std::map<int, std::vector<TracedSlice>> open_;
    std::set<std::uint64_t> known_;
    std::map<std::uint64_t, TracedArrow> begun_;
    std::int64_t last_ps_ = 0;
};

}  // namespace paceline
