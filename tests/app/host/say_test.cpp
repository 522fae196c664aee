#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "app/host/console.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::say_test {
namespace {

// Standard error goes elsewhere while this object lives.
class ErrorTo {
  public:
    explicit ErrorTo(const std::string& file) : before_(::dup(STDERR_FILENO)) { send_to(file); }
    ErrorTo(const ErrorTo&) = delete;
    ErrorTo& operator=(const ErrorTo&) = delete;
    ~ErrorTo() {
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
    }
    void send_to(const std::string& file) {
        const int handle = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
        ::dup2(handle, STDERR_FILENO);
        ::close(handle);
    }

  private:
    int before_;
};

TEST_CASE("say: the first error is remembered, and what is said later is still written") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "err").string();
    CHECK(code_after_printing(0) == 0);
    {
        ErrorTo stream("/dev/full");
        print(stderr, "lost\n");
        stream.send_to(file);
        print(stderr, "kept \x1b[0m\n");
        print_raw(stderr, "\x1b[0m\n");
    }
    CHECK(content(file) == "kept \\x1b[0m\n\x1b[0m\n");
    CHECK(code_after_printing(0) == 1);
    CHECK(code_after_printing(2) == 2);
}

}  // namespace
}  // namespace paceline::say_test
