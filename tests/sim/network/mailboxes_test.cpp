#include "sim/network/mailboxes.hpp"

#include <optional>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/coroutine.hpp"

namespace paceline::mailboxes_test {
namespace {

constexpr int here = 1;
constexpr int there = 0;
constexpr Stream stream = 7;

struct Run {
    Mailboxes boxes{3};
    Join first{1};
    Join second{1};
    Join third{1};

    std::optional<Mailboxes::Message> receive(Join& receiver) {
        return boxes.receive(here, there, stream, receiver);
    }
    bool request_rendezvous(Mailboxes::Message message) {
        return boxes.request_rendezvous(here, there, stream, message);
    }
    void deliver() { boxes.deliver(here, there, stream); }
};

TEST_CASE("mailboxes: a receiver is notified when the message arrives, and not before") {
    Run run;

    run.receive(run.first);
    const bool before = run.first.complete();
    run.deliver();

    CHECK_FALSE(before);
    CHECK(run.first.complete());
}

TEST_CASE("mailboxes: what has arrived answers the next receive at once") {
    Run run;

    run.deliver();
    run.receive(run.first);

    CHECK(run.first.complete());
}

TEST_CASE("mailboxes: the k-th message answers the k-th receive") {
    Run run;

    run.deliver();
    run.deliver();
    run.receive(run.first);
    run.receive(run.second);
    run.receive(run.third);

    CHECK(run.first.complete());
    CHECK(run.second.complete());
    CHECK_FALSE(run.third.complete());
}

TEST_CASE("mailboxes: lanes of other nodes, sources and streams stay apart") {
    Run run;
    run.receive(run.first);

    run.boxes.deliver(2, there, stream);
    run.boxes.deliver(here, 2, stream);
    run.boxes.deliver(here, there, stream + 1);

    CHECK_FALSE(run.first.complete());
}

TEST_CASE("mailboxes: a rendezvous message is held until a receiver waits for it") {
    Run run;

    const bool sets_out = run.request_rendezvous(42);
    const std::optional<Mailboxes::Message> released = run.receive(run.first);

    CHECK_FALSE(sets_out);
    CHECK(released == 42);
    CHECK_FALSE(run.first.complete());
}

TEST_CASE("mailboxes: a rendezvous message starts at once if a receiver waits already") {
    Run run;

    const std::optional<Mailboxes::Message> released = run.receive(run.first);
    const bool sets_out = run.request_rendezvous(42);

    CHECK(released == std::nullopt);
    CHECK(sets_out);
}

TEST_CASE("mailboxes: a receiver lets one message start, and the next is held") {
    Run run;
    run.receive(run.first);
    run.request_rendezvous(42);

    const bool next_sets_out = run.request_rendezvous(43);
    run.deliver();
    const std::optional<Mailboxes::Message> released = run.receive(run.second);

    CHECK_FALSE(next_sets_out);
    CHECK(run.first.complete());
    CHECK(released == 43);
}

TEST_CASE("mailboxes: a receiver that has withdrawn is not notified, and the message is kept") {
    Run run;
    run.receive(run.first);

    run.boxes.withdraw(here, there, stream, run.first);
    run.deliver();
    run.receive(run.second);

    CHECK_FALSE(run.first.complete());
    CHECK(run.second.complete());
}

TEST_CASE("mailboxes: after a withdrawal the next message is held again") {
    Run run;
    run.receive(run.first);

    run.boxes.withdraw(here, there, stream, run.first);
    const bool sets_out = run.request_rendezvous(42);

    CHECK_FALSE(sets_out);
}

TEST_CASE("mailboxes: if its receiver withdraws, a message in flight goes to the next receiver") {
    Run run;
    run.receive(run.first);
    run.request_rendezvous(42);
    run.boxes.withdraw(here, there, stream, run.first);

    run.receive(run.second);
    run.deliver();

    CHECK(run.second.complete());
}

TEST_CASE("mailboxes: a held message stays when the one in flight changes its receiver") {
    Run run;
    run.receive(run.first);
    run.request_rendezvous(42);
    run.request_rendezvous(43);  // held: no receiver waits for it yet
    run.boxes.withdraw(here, there, stream, run.first);

    const std::optional<Mailboxes::Message> while_42_is_on_its_way = run.receive(run.second);
    run.deliver();
    const std::optional<Mailboxes::Message> afterwards = run.receive(run.third);

    CHECK(while_42_is_on_its_way == std::nullopt);
    CHECK(run.second.complete());
    CHECK(afterwards == 43);
}

TEST_CASE("mailboxes: withdrawing a receiver that does not wait changes nothing") {
    Run run;
    run.receive(run.first);

    run.boxes.withdraw(here, there, stream, run.second);
    run.boxes.withdraw(here, 2, stream, run.first);
    run.boxes.withdraw(here, there, stream + 1, run.first);
    run.deliver();

    CHECK(run.first.complete());
}

TEST_CASE("mailboxes: two receivers on one lane are served in order") {
    Run run;
    run.receive(run.first);
    run.receive(run.second);

    run.deliver();
    const bool first_served_alone = run.first.complete() && !run.second.complete();
    run.deliver();

    CHECK(first_served_alone);
    CHECK(run.second.complete());
}

TEST_CASE("mailboxes: two held messages of one lane are a programming error") {
    Run run;
    run.request_rendezvous(42);

    CHECK_THROWS_AS(run.request_rendezvous(43), LogicError);
}

}  // namespace
}  // namespace paceline::mailboxes_test
