// What the thread pool is told of the machine and the target: `library.py` defines these, in a few lines of text.

#ifndef RELAY_TARGET_H
#define RELAY_TARGET_H

#include <stdint.h>

extern int32_t relay_target_pinning;                   // 1: each worker stays on one processor
extern const uint32_t relay_target_spins_before_sleep; // how often a worker looks for work before it sleeps
extern const int64_t relay_target_futex_number;        // of the system call

// What a processor does while a thread spins.
void relay_target_pause(void);

#endif
