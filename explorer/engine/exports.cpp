// What JavaScript calls: texts go in and come out as bytes in the memory of the instance.
//
//   address = take(length)   memory for a request; write it there
//   address = ask()          answers it; the text has answer_length() bytes and lives until the
//                            next ask
//
// While points train, the import page.on_progress(address, length) gets a text for each evaluation.
// A bug or a lack of memory ends the instance: it writes a line to standard error and traps.
#include <cstddef>
#include <string>

#include "explorer/engine/answers.hpp"

namespace {

paceline::Session session;
std::string request;
std::string reply;

}  // namespace

extern "C" {

__attribute__((import_module("page"), import_name("progress"))) void page_progress(
    const char* text, std::size_t length);

__attribute__((export_name("take"))) char* take(std::size_t length) {
    request.resize(length);
    return request.data();
}

__attribute__((export_name("ask"))) const char* ask() {
    reply = session.answer(
        request, [](const std::string& text) { page_progress(text.data(), text.size()); });
    return reply.data();
}

__attribute__((export_name("answer_length"))) std::size_t answer_length() {
    return reply.size();
}

}  // extern "C"
