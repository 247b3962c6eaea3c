// The support library of a target: one file, so that its functions know each other. With RELAY_SERIAL parallel loops
// run on one thread, nobody watches over mapped files or ends a call, and all that is asked of a system is memory.

#include "cpython/build.c"
#include "cpython/call.c"
#include "memory.c"

#ifdef RELAY_SERIAL
#include "files/unmapped.c"
#include "parallel/serial.c"
#include "stop/never.c"
#else
#include "files/mapped.c"
#include "parallel/pool.c"
#include "stop/asked.c"
#endif
