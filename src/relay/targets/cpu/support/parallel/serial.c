// Parallel loops where the thread pool is not supported: one thread.

#include "parallel/parallel.h"

int32_t relay_num_threads(void)
{
    return 1;
}

void relay_set_num_threads(int32_t count)
{
    (void)count;
}

void relay_limit_threads(int32_t count)
{
    (void)count;
}

void relay_set_pinning(int32_t on)
{
    (void)on;
}

void relay_parallel_for(loop_body *body, void *context, int64_t count, int64_t grain, int64_t backwards, void *scratch,
                        uint64_t scratch_bytes, int32_t most)
{
    (void)grain, (void)backwards, (void)scratch_bytes, (void)most;
    if (count > 0)
        body(context, 0, count, scratch);
}
