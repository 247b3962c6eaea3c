// Calls that end before they are done. Programs look at `relay_stop_asked` where they come back to, and between kernels;
// kernels that run for long do too, and then return.

#ifndef RELAY_STOP_H
#define RELAY_STOP_H

#include <stdint.h>

// Not 0 while some thread may have to end its call: then `relay_stop_now` knows.
extern int32_t relay_stop_asked;

// The status with which the calling thread is to end its call; 0 when it goes on.
int32_t relay_stop_now(void);

// The same where a program comes back to or a kernel is through: one step of those that a call may take.
int32_t relay_stop_step(void);

// Whether a call may have so many bytes more.
_Bool relay_stop_allows(uint64_t bytes);

// Until `relay_stop_unlimit` is told what this gives, calls of whom the calling thread works for end after so many steps with -11, or
// when they ask for more than so many bytes with -12. 0 where there are too many such calls at a time.
uint64_t relay_stop_limit(int64_t steps, int64_t bytes);
void relay_stop_unlimit(uint64_t place);

// A call begins: whatever was asked of this thread before is over.
void relay_stop_begin(void);

// For whom the calling thread works: itself, or who waits for it; and how a new thread is told.
uint64_t relay_stop_owner(void);
void relay_stop_act_for(uint64_t owner);

// Has Ctrl-C end the calls of a thread, and then goes on with who took that signal before. To be asked again where he
// may have taken it back.
void relay_stop_on_interrupt(uint64_t thread);

// A thread's time is up: its call ends with -10. `relay_stop_forget` takes that back.
void relay_stop_thread(uint64_t thread);
void relay_stop_forget(uint64_t thread);

#endif
