// Where nothing ends a call but itself.

#include "stop/stop.h"

int32_t relay_stop_asked;

int32_t relay_stop_now(void) { return 0; }
int32_t relay_stop_step(void) { return 0; }
_Bool relay_stop_allows(uint64_t bytes) { return (void)bytes, 1; }
uint64_t relay_stop_limit(int64_t steps, int64_t bytes) { return (void)steps, (void)bytes, 0; }
void relay_stop_unlimit(uint64_t place) { (void)place; }
void relay_stop_begin(void) {}
uint64_t relay_stop_owner(void) { return 0; }
void relay_stop_act_for(uint64_t owner) { (void)owner; }
void relay_stop_on_interrupt(uint64_t thread) { (void)thread; }
void relay_stop_thread(uint64_t thread) { (void)thread; }
void relay_stop_forget(uint64_t thread) { (void)thread; }
