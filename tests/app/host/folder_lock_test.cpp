#include "app/host/folder_lock.hpp"

#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/host/output.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::folder_lock_test {
namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& folder) {
    try {
        const FolderLock lock(folder, "second");
    } catch (const OutputError& error) {
        return error.what();
    }
    return "no refusal";
}

TEST_CASE("lock: the second is refused, and told who holds it, until the first is gone") {
    const TemporaryFolder folder;
    std::optional<FolderLock> first(std::in_place, folder.path(), "paceline run a.json");
    CHECK(first->warning().empty());

    const std::string why = refusal(folder.path());
    CHECK(why.starts_with(
        fmt::format("{}: is in use by process {} on ", folder.path().string(), ::getpid())));
    CHECK(why.find(": paceline run a.json; ") != std::string::npos);

    first.reset();
    CHECK(refusal(folder.path()) == "no refusal");
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("lock: what a killed process has left means nothing") {
    const TemporaryFolder folder;
    (void)folder.write(".lock", "process 1 on nowhere");
    CHECK(refusal(folder.path()) == "no refusal");
}

TEST_CASE("lock: a link, a FIFO or a folder in its place is refused and not touched") {
    const TemporaryFolder folder;
    const fs::path lock = folder.path() / ".lock";
    const std::string target = folder.write("target", "precious");
    fs::create_symlink(target, lock);
    CHECK(refusal(folder.path()).find("is not a regular file") != std::string::npos);
    CHECK(content(target) == "precious");
    fs::remove(lock);
    CHECK(::mkfifo(lock.c_str(), 0600) == 0);
    CHECK(refusal(folder.path()).find("is not a regular file") != std::string::npos);
    fs::remove(lock);
    fs::create_directory(lock);
    CHECK(refusal(folder.path()).find("is not a regular file") != std::string::npos);
}

}  // namespace
}  // namespace paceline::folder_lock_test
