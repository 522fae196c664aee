#include "app/study/kept_points.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

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

std::vector<fs::path> journals(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".points") files.push_back(entry.path());
    return files;
}

fs::path journal(const TemporaryFolder& folder) {
    const std::vector<fs::path> files = journals(folder.path());
    REQUIRE(files.size() == 1);
    return files.front();
}

void keep_one(const TemporaryFolder& folder, const std::string& of) {
    KeptPoints points(folder.path());
    points.keep(of, result());
}

std::optional<PointResult> found(const TemporaryFolder& folder, const std::string& of) {
    KeptPoints points(folder.path());
    return points.find(of);
}

void age(const fs::path& file, std::chrono::hours by) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - by);
}

TEST_CASE("kept points: what was kept is found, by the one who kept it and by others") {
    const TemporaryFolder folder;
    for (const bool asked_before : {false, true}) {
        CAPTURE(asked_before);
        KeptPoints points(folder.path());
        const std::string own(32, asked_before ? 'c' : 'd');
        if (asked_before) CHECK_FALSE(points.find(own));
        points.keep(own, result());
        points.keep(key, result());
        REQUIRE(points.find(own));
        CHECK(points.find(own)->wall_clock_s == 0.5);
        CHECK(points.find(key));
        CHECK_FALSE(points.find(other_key));
        CHECK(points.warnings().empty());
        CHECK(found(folder, own));
    }
    CHECK(journals(folder.path()).size() == 2);
}

TEST_CASE("kept points: who keeps nothing leaves no journal") {
    const TemporaryFolder folder;
    CHECK_FALSE(found(folder, key));
    CHECK(journals(folder.path()).empty());
}

TEST_CASE("kept points: of a journal that was cut anywhere, the whole points are found") {
    const TemporaryFolder folder;
    KeptPoints(folder.path()).keep(key, result());
    const std::string first = content(journal(folder));
    fs::remove(journal(folder));
    KeptPoints points(folder.path());
    points.keep(key, result());
    points.keep(other_key, result());
    const fs::path file = journal(folder);
    const std::string whole = content(file);
    for (std::size_t size = 0; size < whole.size(); size += 29) {
        CAPTURE(size);
        fs::resize_file(file, size);
        CHECK(found(folder, key).has_value() == (size >= first.size()));
        CHECK_FALSE(found(folder, other_key));
        (void)folder.write(file.filename().string(), whole);
    }
    for (std::size_t at = 0; at + 1 < first.size(); at += 29) {  // what a power failure left
        CAPTURE(at);
        std::string damaged = whole;
        damaged[at] = '\0';
        (void)folder.write(file.filename().string(), damaged);
        CHECK_FALSE(found(folder, key));
        CHECK(found(folder, other_key));
    }
}

TEST_CASE("kept points: of two journals with a point, the whole one counts") {
    const TemporaryFolder folder;
    keep_one(folder, key);
    fs::resize_file(journal(folder), 200);
    CHECK_FALSE(found(folder, key));
    keep_one(folder, key);
    CHECK(found(folder, key));
}

TEST_CASE("kept points: a FIFO, a link, a device and a folder count as not there, with a warning") {
    const TemporaryFolder elsewhere;
    keep_one(elsewhere, key);
    for (const char* what : {"fifo", "endless", "link", "folder"}) {
        CAPTURE(what);
        const TemporaryFolder folder;
        const fs::path odd = folder.path() / "0123456789abcdef.points";
        if (what[1] == 'i' && what[0] == 'f') CHECK(::mkfifo(odd.c_str(), 0600) == 0);
        if (what[0] == 'e') fs::create_symlink("/dev/zero", odd);
        if (what[0] == 'l') fs::create_symlink(journal(elsewhere), odd);
        if (what[1] == 'o') (void)folder.write("0123456789abcdef.points/inside", "precious");
        KeptPoints points(folder.path());
        CHECK_FALSE(points.find(key));
        CHECK(points.warnings().size() == 1);
        points.keep(key, result());
        CHECK(points.find(key));
        points.forget_unused(fs::file_time_type::max());
        CHECK(fs::exists(fs::symlink_status(odd)));
    }
}

TEST_CASE("kept points: a file of any size that is no journal is not read to its end") {
    const TemporaryFolder folder;
    (void)folder.write("0123456789abcdef.points", "");
    fs::resize_file(folder.path() / "0123456789abcdef.points", std::uintmax_t{1} << 40U);
    CHECK_FALSE(found(folder, key));
}

TEST_CASE("kept points: a point that is used is written again after ten days, and stays") {
    const TemporaryFolder folder;
    KeptPoints(folder.path()).keep(key, result());
    age(journal(folder), std::chrono::hours(24 * 9));
    CHECK(found(folder, key));
    CHECK(journals(folder.path()).size() == 1);
    const fs::path old = journal(folder);
    age(old, std::chrono::hours(24 * 11));
    {
        KeptPoints points(folder.path());
        CHECK(points.find(key));
        CHECK(points.find(key));
        points.forget_unused(fs::file_time_type::clock::now() - std::chrono::hours(24 * 2));
    }
    CHECK(journals(folder.path()).size() == 2);  // ten days more than these two have not passed
    fs::remove(old);
    const std::string again = content(journal(folder));
    CHECK(again.find("paceline-point") == again.rfind("paceline-point"));  // once
    CHECK(found(folder, key));
}

TEST_CASE("kept points: only what nobody has used for long is forgotten") {
    const TemporaryFolder folder;
    keep_one(folder, key);
    const fs::path old = journal(folder);
    const fs::path mine = folder.write("notes.points", "a user's");
    const fs::path of_a_point = folder.write(std::string(32, 'e') + ".point", "of 0.2.0");
    const fs::path young = folder.write(std::string(32, 'f') + ".point", "of 0.2.0");
    for (const fs::path& file : {mine, of_a_point}) age(file, std::chrono::hours(24 * 31));
    const auto before = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
    KeptPoints points(folder.path());

    age(old, std::chrono::hours(24 * 39));
    points.forget_unused(before);
    CHECK(fs::exists(old));  // its points may have been used when it was nine days old
    CHECK_FALSE(fs::exists(of_a_point));

    age(old, std::chrono::hours(24 * 41));
    points.forget_unused(before);
    CHECK_FALSE(fs::exists(old));
    CHECK(fs::exists(mine));
    CHECK(fs::exists(young));
}

TEST_CASE("kept points: a journal that has grown long is followed by another") {
    const TemporaryFolder folder;
    PointResult large = result();
    large.metrics.outcome_details.assign(most_journal_bytes, 'x');
    KeptPoints points(folder.path());
    points.keep(key, large);
    points.keep(other_key, result());
    CHECK(journals(folder.path()).size() == 2);
    for (const std::string& of : {key, other_key}) CHECK(found(folder, of));
}

}  // namespace
}  // namespace paceline::kept_points_test
