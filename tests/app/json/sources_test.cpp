#include "app/json/sources.hpp"

#include <filesystem>

#include <doctest/doctest.h>

namespace paceline::json_sources_test {
namespace {

TEST_CASE("sources: a name is relative to the folder of the document that has it") {
    for (const char* document : {"scenario.json", "a/scenario.json", "./s.json", "../a/s.json",
                                 "a/b/c/s.json", "/s.json", "/a/b/s.json", "a//b///s.json", ""})
        for (const char* name :
             {"x.csv", "data/x.csv", "../x.csv", "./x.csv", "/x.csv", "", ".."}) {
            CAPTURE(document);
            CAPTURE(name);
            CHECK(beside(document, name) ==
                  (std::filesystem::path(document).parent_path() / name).string());
        }
}

}  // namespace
}  // namespace paceline::json_sources_test
