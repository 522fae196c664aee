#include "app/study/kept_points.hpp"

#include <chrono>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/app/host/temporary_folder.hpp"

namespace paceline::kept_points_test {
namespace {

namespace fs = std::filesystem;

const std::string key(32, 'a');
const std::string other_key(32, 'b');

PointResult result() {
    PointResult made;
    made.metrics.outcome = "finished";
    made.wall_clock_s = 0.5;
    return made;
}

fs::path point(const TemporaryFolder& folder, const std::string& of = key) {
    return folder.path() / (of + ".point");
}

TEST_CASE("kept points: what was kept is found") {
    const TemporaryFolder folder;
    KeptPoints points(folder.path());
    CHECK_FALSE(points.find(key));
    points.keep(key, result());
    REQUIRE(points.find(key));
    CHECK(points.find(key)->wall_clock_s == 0.5);
    CHECK(points.warnings().empty());
}

TEST_CASE("kept points: a FIFO, a link and a device count as not there, and are replaced") {
    const TemporaryFolder folder;
    const TemporaryFolder elsewhere;
    KeptPoints whole(elsewhere.path());
    whole.keep(key, result());
    for (const char* what : {"fifo", "endless", "link"}) {
        CAPTURE(what);
        fs::remove(point(folder));
        if (what[0] == 'f') CHECK(::mkfifo(point(folder).c_str(), 0600) == 0);
        if (what[0] == 'e') fs::create_symlink("/dev/zero", point(folder));
        if (what[0] == 'l') fs::create_symlink(point(elsewhere), point(folder));
        KeptPoints points(folder.path());
        CHECK_FALSE(points.find(key));
        CHECK(points.warnings().size() == 1);
        points.keep(key, result());
        CHECK(points.find(key));
        CHECK(fs::symlink_status(point(folder)).type() == fs::file_type::regular);
    }
}

TEST_CASE("kept points: a folder in the place of a point stays, and the point is not kept") {
    const TemporaryFolder folder;
    (void)folder.write(key + ".point/inside", "precious");
    KeptPoints points(folder.path());
    CHECK_FALSE(points.find(key));
    points.keep(key, result());
    CHECK(points.warnings().size() == 2);
    CHECK(content(point(folder) / "inside") == "precious");
}

TEST_CASE("kept points: a file of any size that is no point is not read to its end") {
    const TemporaryFolder folder;
    (void)folder.write(key + ".point", "");
    fs::resize_file(point(folder), std::uintmax_t{1} << 40U);
    KeptPoints points(folder.path());
    CHECK_FALSE(points.find(key));
}

TEST_CASE("kept points: only points that nobody has used for long are forgotten") {
    const TemporaryFolder folder;
    KeptPoints points(folder.path());
    points.keep(key, result());
    points.keep(other_key, result());
    const fs::path mine = folder.write("notes.point", "a user's");
    const auto now = fs::file_time_type::clock::now();
    for (const fs::path& file : {point(folder), point(folder, other_key), mine})
        fs::last_write_time(file, now - std::chrono::hours(100));
    CHECK(points.find(key));  // a use

    points.forget_unused(now - std::chrono::hours(99));

    CHECK(points.find(key));
    CHECK_FALSE(points.find(other_key));
    CHECK(fs::exists(mine));
}

}  // namespace
}  // namespace paceline::kept_points_test
