// A trace as a file of the Chrome Trace Event format (JSON), which Perfetto and chrome://tracing open.
//
//   process    a machine; "links" for what belongs to none
//   thread     a track of it: steps, compute, collectives and waiting of each device; up and down, the
//              messages that leave and reach the machine; bus out and bus in, those between its devices
//   B, E       a slice. On one thread slices nest or follow one another: what overlaps otherwise goes
//              to a lane more, "up (2)". Messages that overlap never nest.
//   s, f       an arrow from where a message leaves to where it is received, inside both slices
//   C          use of a link, 0..1
//   i          where the limit has cut the trace
//
// A message leaves from when it sets out until its links are free of it, and is received as long, one
// latency later: from its first byte until it is delivered.
//
// Slices are B and E, not X with a duration: Perfetto cuts times to nanoseconds, begin and duration
// apart, so that slices which meet at a picosecond would overlap by a nanosecond and be dropped. B and E
// are cut alike, and stay in order. Events stand in the order of time; at one instant senders stand
// before receivers, so that an arrow begins before it ends. Thread numbers are different in the whole
// file: Perfetto names threads by them alone. Times are microseconds with all digits of a picosecond.
//
// Source: "Trace Event Format" (the Chromium project); Perfetto's importer of it
// (src/trace_processor/importers/json), for nanoseconds, thread names and arrows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/trace_recorder.hpp"

namespace paceline {

/// Takes a file piece by piece.
using TextSink = std::function<void(std::string_view piece)>;

/// What is said of the run in the file, under "otherData".
using TraceFacts = std::vector<std::pair<std::string, std::string>>;

/// Requires that the recorder is finished. The same record gives the same bytes.
void write_chrome_trace(const TraceRecorder& record, const TraceFacts& facts, const TextSink& sink);

/// A time in microseconds, exact: "12.000001".
std::string microseconds(Time time);

}  // namespace paceline
