// Writes a trace in the Chrome Trace Event format (JSON), for Perfetto and chrome://tracing.
//
//   process    a machine; "links" for links that belong to no machine
//   thread     a track of a machine: steps, compute, collectives and waiting of each device; up and
//              down for messages that leave and reach the machine; bus out and bus in for messages
//              between its devices
//   B, E       a slice. On one thread slices nest or follow one another. A slice that would overlap
//              otherwise goes to another lane, "up (2)". Messages that overlap never nest.
//   s, f       an arrow from where a message leaves to where it is received, inside both slices
//   C          use of a link, 0..1
//   i          where the limit has cut the trace
//
// A message leaves from the time it sets out until its links are free of it. It is received over
// the same length of time one latency later: from its first byte until delivery.
//
// Slices are B and E events, not X with a duration. Perfetto truncates begin and duration to
// nanoseconds separately, so slices that meet at a picosecond would overlap by a nanosecond and be
// dropped. B and E are truncated alike and stay in order. Events are sorted by time. At the same
// instant senders come before receivers, so that an arrow begins before it ends. Thread numbers are
// unique in the whole file, because Perfetto names threads by them alone. Times are in
// microseconds, with all digits down to the picosecond.
//
// Source: "Trace Event Format" (the Chromium project); Perfetto's importer for it
// (src/trace_processor/importers/json), for nanoseconds, thread names and arrows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/traces/trace_recorder.hpp"

namespace paceline {

/// Receives a file piece by piece.
using TextSink = std::function<void(std::string_view piece)>;

/// Facts about the run, written to the file under "otherData".
using TraceFacts = std::vector<std::pair<std::string, std::string>>;

/// Requires that the recorder is finished. The same record always gives the same bytes.
void write_chrome_trace(const TraceRecorder& record, const TraceFacts& facts, const TextSink& sink);

/// Returns a time in microseconds, exactly: "12.000001".
std::string microseconds(Time time);

}  // namespace paceline
