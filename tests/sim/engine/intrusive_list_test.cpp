#include "sim/engine/intrusive_list.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

namespace paceline::intrusive_list_test {
namespace {

struct RowTag;
struct ColumnTag;

struct Cell : ListHook<RowTag>, ListHook<ColumnTag> {
    explicit Cell(char its_name) : name(its_name) {}

    char name;
};

using Row = IntrusiveList<Cell, RowTag>;
using Column = IntrusiveList<Cell, ColumnTag>;

ListHook<RowTag>& row_hook(Cell& cell) {
    return cell;
}

template <class List>
std::string names(const List& list) {
    std::string all;
    list.for_each([&all](const Cell& cell) { all += cell.name; });
    return all;
}

TEST_CASE("intrusive list: elements leave at the front in the order in which they came") {
    Cell a('a');
    Cell b('b');
    Cell c('c');
    Row row;
    row.push_back(a);
    row.push_back(b);
    row.push_back(c);

    Cell& first = row.pop_front();

    CHECK(&first == &a);
    CHECK(&row.front() == &b);
    CHECK(names(row) == "bc");
    CHECK_FALSE(row_hook(a).linked());
    CHECK(row_hook(b).linked());
}

TEST_CASE("intrusive list: a new list is empty, and is again when its last element has left") {
    Cell a('a');
    Row row;
    const bool empty_at_first = row.empty();

    row.push_back(a);
    const bool empty_with_one = row.empty();
    row.pop_front();

    CHECK(empty_at_first);
    CHECK_FALSE(empty_with_one);
    CHECK(row.empty());
}

TEST_CASE("intrusive list: an element that left can come again, at the back") {
    Cell a('a');
    Cell b('b');
    Row row;
    row.push_back(a);
    row.push_back(b);

    row.push_back(row.pop_front());

    CHECK(names(row) == "ba");
}

TEST_CASE("intrusive list: an element unlinks itself from anywhere, and twice does no harm") {
    Cell a('a');
    Cell b('b');
    Cell c('c');
    Row row;
    row.push_back(a);
    row.push_back(b);
    row.push_back(c);

    row_hook(b).unlink();
    row_hook(b).unlink();
    row_hook(c).unlink();

    CHECK(names(row) == "a");
}

TEST_CASE("intrusive list: an element that is destroyed leaves its list") {
    Cell a('a');
    std::optional<Cell> b(std::in_place, 'b');
    Cell c('c');
    Row row;
    row.push_back(a);
    row.push_back(*b);
    row.push_back(c);

    b.reset();

    CHECK(names(row) == "ac");
}

TEST_CASE("intrusive list: an element is in one list per tag, independently") {
    Cell a('a');
    Cell b('b');
    Row row;
    Column column;
    row.push_back(a);
    row.push_back(b);
    column.push_back(b);
    column.push_back(a);

    row.pop_front();

    CHECK(names(row) == "b");
    CHECK(names(column) == "ba");
}

TEST_CASE("intrusive list: elements outlive their list, unlinked") {
    Cell a('a');
    Cell b('b');
    auto row = std::make_unique<Row>();
    row->push_back(a);
    row->push_back(b);

    row.reset();

    CHECK_FALSE(row_hook(a).linked());
    CHECK_FALSE(row_hook(b).linked());
}

TEST_CASE("intrusive list: neither lists nor hooks are copied or moved") {
    static_assert(!std::is_copy_constructible_v<Row>);
    static_assert(!std::is_move_constructible_v<Row>);
    static_assert(!std::is_copy_constructible_v<Cell>);
    static_assert(!std::is_move_assignable_v<Cell>);

    CHECK(std::is_default_constructible_v<Row>);
}

TEST_CASE("intrusive list, property: behaves as a string under random pushes, pops and deaths") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        Row row;
        std::string model;
        std::deque<std::unique_ptr<Cell>> cells;
        for (int i = 0; i < 26; ++i)
            cells.push_back(std::make_unique<Cell>(static_cast<char>('a' + i)));

        for (int step = 0; step < 200; ++step) {
            std::unique_ptr<Cell>& cell = cells[rng() % cells.size()];
            const char name = cell->name;
            const auto place = model.find(name);
            if (rng() % 8 == 0 && !model.empty()) {
                REQUIRE(row.pop_front().name == model.front());
                model.erase(0, 1);
            } else if (place == std::string::npos) {
                row.push_back(*cell);
                model += name;
            } else {
                cell = std::make_unique<Cell>(name);  // the old one dies in the list
                model.erase(place, 1);
            }
            REQUIRE(names(row) == model);
        }
    }
}

}  // namespace
}  // namespace paceline::intrusive_list_test
