// Parallel loops, and how many threads they use.

#ifndef RELAY_PARALLEL_H
#define RELAY_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

// Runs the iterations from `begin` to `end`, and has `scratch` to work in.
typedef void loop_body(void *context, int64_t begin, int64_t end, void *scratch);

// Run `body` for parts of `count` iterations, of at least `grain`. With `backwards` not 0 each thread takes the parts
// of its share from the last to the first. The caller works in `scratch`, of `scratch_bytes`; each other thread has as
// much of its own. At most `most` threads take part; 0: as many as there are.
void relay_parallel_for(loop_body *body, void *context, int64_t count, int64_t grain, int64_t backwards, void *scratch,
                        uint64_t scratch_bytes, int32_t most);

// How many threads a parallel loop uses, the caller's included.
int32_t relay_num_threads(void);

// At most `count` threads from now on; 0 for as many as there are processors. The processors are counted again.
void relay_set_num_threads(int32_t count);

// At most `count` threads for loops that the calling thread starts from now on; 0 for no limit of its own.
void relay_limit_threads(int32_t count);

// Whether workers that are started from now on each stay on one processor, a different one each.
void relay_set_pinning(int32_t on);

#endif
