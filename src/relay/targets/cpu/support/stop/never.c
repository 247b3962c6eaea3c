// Where nothing ends a call but itself.

#include "stop/stop.h"

int32_t relay_stop_asked;

int32_t relay_stop_now(void) { return 0; }
void relay_stop_begin(void) {}
uint64_t relay_stop_owner(void) { return 0; }
void relay_stop_act_for(uint64_t owner) { (void)owner; }
void relay_stop_on_interrupt(uint64_t thread) { (void)thread; }
void relay_stop_thread(uint64_t thread) { (void)thread; }
void relay_stop_forget(uint64_t thread) { (void)thread; }
