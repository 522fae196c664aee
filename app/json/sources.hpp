// What a scenario needs from outside: the files that it names, and how much memory there is.
//
// Readers of scenarios open no files themselves. They ask a Sources, a plain struct of functions,
// which the caller passes in with the scenario's text. app/host/files.hpp gives the one that reads
// the files of this machine. A page in a browser, a Python module and tests give texts that they
// hold in memory.
//
// What has been read stays on the shelf, which copies of a Sources share, so the points of a study
// read a file once. Make new sources to see files that have changed.
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

#include "app/json/shelf.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct Sources {
    /// Returns the content of a JSON file, such as a profile. Throws a ConfigError that names the
    /// file.
    std::function<std::string(const std::string& file)> text;
    /// Returns the content of a table or a data set, as it is: gzip is inflated by the reader.
    /// Throws a DataError that names the file.
    std::function<std::vector<unsigned char>(const std::string& file)> data;
    /// Returns the memory that data and a cluster may take; 0 if that is not known, and then
    /// nothing is refused for its size.
    std::function<Bytes()> available_memory;
    std::shared_ptr<Shelf> shelf = std::make_shared<Shelf>();
};

/// Returns the name of a file that a document calls `name`, relative to the document's folder. A
/// name that begins with "/" stays as it is.
std::string beside(std::string_view document, std::string_view name);

}  // namespace paceline
