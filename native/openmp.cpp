#include "openmp.h"

#include <dlfcn.h>
#if defined(__linux__)
#include <link.h>
#endif

#include <cstring>
#include <string>

namespace clearhead::openmp {
namespace {

#if defined(__APPLE__)
constexpr const char* kSystem = "libomp.dylib";  // offers the same functions
#else
constexpr const char* kSystem = "libgomp.so.1";
#endif

// What the compiler calls for `#pragma omp parallel`, and what omp.h declares.
struct Functions {
    void (*parallel)(void (*)(void*), void*, unsigned, unsigned) = nullptr;
    int (*thread_num)() = nullptr;
    int (*max_threads)() = nullptr;
    int (*in_parallel)() = nullptr;
};

std::string& preferred() {
    static std::string file;
    return file;
}

const char* name_of(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Path of a libgomp that some library has brought into the process; "" for none.
std::string already_there() {
    std::string found;
#if defined(__linux__)
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* out) {
            if (!info->dlpi_name || std::strncmp(name_of(info->dlpi_name), "libgomp", 7)) return 0;
            *static_cast<std::string*>(out) = info->dlpi_name;
            return 1;
        },
        &found);
#endif
    return found;
}

void* find() {
    const std::string& file = preferred();
    if (!file.empty()) {
        // By its name first: where a library of that name is there, torch will be given that one.
        if (void* there = dlopen(name_of(file.c_str()), RTLD_NOW | RTLD_NOLOAD)) return there;
        if (void* brought = dlopen(file.c_str(), RTLD_NOW)) return brought;
    }
    const std::string there = already_there();
    if (!there.empty())
        if (void* found = dlopen(there.c_str(), RTLD_NOW | RTLD_NOLOAD)) return found;
    return dlopen(kSystem, RTLD_NOW);
}

template <class Function>
void read(void* library, const char* name, Function* out) {
    *out = reinterpret_cast<Function>(dlsym(library, name));
}

Functions load() {
    Functions f;
    void* library = find();  // never closed: its threads live as long as the process
    if (!library) return f;
    read(library, "GOMP_parallel", &f.parallel);
    read(library, "omp_get_thread_num", &f.thread_num);
    read(library, "omp_get_max_threads", &f.max_threads);
    read(library, "omp_in_parallel", &f.in_parallel);
    if (!f.parallel || !f.thread_num || !f.max_threads || !f.in_parallel) return {};
    return f;
}

const Functions& functions() {
    static const Functions found = load();
    return found;
}

struct Region {
    void (*work)(void*, int);
    void* context;
    int (*thread_num)();
};

}  // namespace

void use(const char* file) {
    preferred() = file;
}

int max_threads() {
    const Functions& f = functions();
    return f.parallel ? f.max_threads() : 1;
}

bool in_region() {
    const Functions& f = functions();
    return f.parallel && f.in_parallel();
}

void region(void (*work)(void*, int), void* context, int threads) {
    const Functions& f = functions();
    if (!f.parallel) return work(context, 0);
    Region all{work, context, f.thread_num};
    f.parallel(
        [](void* data) {
            const auto* here = static_cast<const Region*>(data);
            here->work(here->context, here->thread_num());
        },
        &all, static_cast<unsigned>(threads), 0);
}

}  // namespace clearhead::openmp
