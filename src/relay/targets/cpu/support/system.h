// Names and numbers of the C library and of Linux on 64-bit machines.

#ifndef RELAY_SYSTEM_H
#define RELAY_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

enum {
    PROT_READ = 1,
    PROT_WRITE = 2,
    MAP_PRIVATE = 2,
    MAP_FIXED = 16,
    MAP_ANONYMOUS = 32,
    MADV_WIPEONFORK = 18,
    FUTEX_WAIT_PRIVATE = 128,
    FUTEX_WAKE_PRIVATE = 129,
    SIG_SETMASK = 2,
    SA_SIGINFO = 4,
    SA_ONSTACK = 0x08000000,
    SIGINT = 2,
    SIGILL = 4,
    SIGTRAP = 5,
    SIGBUS = 7,
    SIGFPE = 8,
    SIGSEGV = 11,
    SET_WORDS = 16,
    SET_BITS = 64 * SET_WORDS,
};

// Signals, bit n-1 of signal n; or processors.
struct set {
    uint64_t words[SET_WORDS];
};
_Static_assert(sizeof(struct set) == 128, "a `sigset_t` and a `cpu_set_t` of the C library");

struct signal_action {
    void (*handler)(int signal, void *told, void *context);
    struct set mask;
    int32_t flags;
    void (*restorer)(void);
};
_Static_assert(offsetof(struct signal_action, flags) == 136, "a `struct sigaction` of the C library");
_Static_assert(sizeof(struct signal_action) == 152, "a `struct sigaction` of the C library");

// How what a handler is told begins, where the signal is of an address.
struct signal_information {
    int32_t signal, error, code;
    uint64_t address;
};
_Static_assert(offsetof(struct signal_information, address) == 16, "a `siginfo_t` of the C library");

#define MAP_FAILED ((void *)-1)

void *mmap(void *address, size_t bytes, int protection, int flags, int file, int64_t offset);
int munmap(void *address, size_t bytes);
int madvise(void *address, size_t bytes, int advice);
int getpagesize(void);
int64_t syscall(int64_t number, ...);

int sigaction(int signal, const struct signal_action *action, struct signal_action *before);

int pthread_once(int32_t *once, void (*function)(void));
int pthread_key_create(uint32_t *key, void (*destructor)(void *));
int pthread_setspecific(uint32_t key, const void *value);
void *pthread_getspecific(uint32_t key);
int pthread_create(uint64_t *thread, const void *attributes, void *(*entry)(void *), void *argument);
int pthread_detach(uint64_t thread);
uint64_t pthread_self(void);
int pthread_sigmask(int how, const struct set *set, struct set *before);
int pthread_setaffinity_np(uint64_t thread, size_t bytes, const struct set *processors);

int sched_getaffinity(int32_t process, size_t bytes, struct set *processors);
int sched_getcpu(void);
int sched_yield(void);

#endif
