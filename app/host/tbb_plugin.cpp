#include "app/host/parallel_plugin.hpp"

extern "C" const paceline::ThreadLibrary* paceline_thread_library() {
    return &paceline::thread_library();
}
