// For wheels alone (scripts/wheel): what ties a module built here to a recent glibc, by the names
// that glibc has had for long.
//
// glibc 2.34 moved libdl and libpthread into libc and gave their functions a new version, which the
// linker takes; by the old one they are found on both sides of the move. The linker sends what the
// module and the C++ library inside it call to the __wrap_ functions.
#include <dlfcn.h>
#include <pthread.h>

#if defined(__x86_64__)
#define OLDER(name) asm(".symver older_" #name ", " #name "@GLIBC_2.2.5")
#elif defined(__aarch64__)
#define OLDER(name) asm(".symver older_" #name ", " #name "@GLIBC_2.17")
#endif

extern "C" {

OLDER(dlopen);
void* older_dlopen(const char*, int);
void* __wrap_dlopen(const char* file, int mode) {
    return older_dlopen(file, mode);
}

OLDER(dlsym);
void* older_dlsym(void*, const char*);
void* __wrap_dlsym(void* library, const char* name) {
    return older_dlsym(library, name);
}

OLDER(pthread_once);
int older_pthread_once(pthread_once_t*, void (*)());
int __wrap_pthread_once(pthread_once_t* once, void (*work)()) {
    return older_pthread_once(once, work);
}

OLDER(__pthread_key_create);
int older___pthread_key_create(pthread_key_t*, void (*)(void*));
int __wrap___pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) {
    return older___pthread_key_create(key, destroy);
}

// New in 2.32: whether the process has one thread. The C++ library inside asks; no is always safe.
char __libc_single_threaded = 0;

}  // extern "C"
