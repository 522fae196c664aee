// What a scenario needs from outside: the files that it names, what its caller brings besides the
// tables (training methods, problems, codecs, mixings), and how much memory there is.
//
// Readers of scenarios open no files themselves. They ask a Sources, a plain struct of functions,
// which the caller passes in with the scenario's text. app/host/files.hpp gives the one that reads
// the files of this machine. A page in a browser, a Python module and tests give texts that they
// hold in memory.
//
// What has been read stays on the cache, which copies of a Sources share, so the points of a study
// read a file once; data sets stay while there is room (data_sets.hpp). Make new sources to see
// files that have changed.
//
// A file has a name: the name that the scenario gives it, relative to the folder of the scenario's
// own name (see beside). Names are texts with "/" between folders; only the source knows whether
// there is a file system. Errors show the same name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/content_cache.hpp"
#include "models/data/data_sets.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct OwnCodec;
struct OwnMethod;
struct OwnMixing;
struct OwnProblem;
struct Place;

/// Returns what the value at `kind` names; null if it names nothing of this sort. Throws
/// ConfigError.
template <class Own>
using FindOwn = std::function<std::shared_ptr<const Own>(const Place& kind)>;

/// What the caller brings besides the tables (own_parts.hpp). Empty: nothing of this sort.
struct OwnParts {
    FindOwn<OwnMethod> method{};
    FindOwn<OwnProblem> problem{};
    FindOwn<OwnCodec> codec{};
    FindOwn<OwnMixing> mixing{};
};

/// Memory that may still be taken.
struct AvailableMemory {
    Bytes bytes{};        // 0: it is not known
    std::string limit{};  // what allows no more, such as "ulimit -v"; empty: the machine

    /// Returns how much of it data sets that no run uses may take.
    [[nodiscard]] Bytes room_for_data() const;
    /// Returns whether it is known and less.
    [[nodiscard]] bool is_below(Bytes need) const { return bytes != Bytes{0} && bytes < need; }
};

struct Sources {
    /// Returns the content of a JSON file, such as a profile. Throws a ConfigError that names the
    /// file.
    std::function<std::string(const std::string& file)> text;
    /// Returns the content of a table or a data set, as it is: gzip is inflated by the reader.
    /// Throws a DataError that names the file.
    std::function<std::vector<unsigned char>(const std::string& file)> data;
    /// Returns the memory that data and a cluster may take. Where that is not known, nothing is
    /// refused for its size.
    std::function<AvailableMemory()> available_memory;
    OwnParts own{};
    std::shared_ptr<ContentCache> cache = std::make_shared<ContentCache>();

    /// Returns the memory that there was when this was first asked.
    [[nodiscard]] const AvailableMemory& memory() const;
    /// Returns the data sets of the study, which take at most a quarter of the memory but for those
    /// that runs hold.
    [[nodiscard]] std::shared_ptr<DataSets> data_sets() const;
};

/// Returns "about 2.0 GB of memory, and 1.0 GB are free", for messages.
std::string beside_free(Bytes need, const AvailableMemory& memory);

/// Returns the name of a file that a document calls `name`, relative to the document's folder. A
/// name that begins with "/" stays as it is.
std::string beside(std::string_view document, std::string_view name);

}  // namespace paceline
