// What becomes of functions that are compiled as part of a program.

#ifndef RELAY_LINKAGE_H
#define RELAY_LINKAGE_H

// The program calls it: it is kept although nothing here does.
#define RELAY_PART_OF_PROGRAM __attribute__((used)) static

// The program calls it, and has it where the call was.
#define RELAY_INLINED __attribute__((used, always_inline)) static inline

// Nothing is left of it: names of the program's own cannot be in its way.
#define RELAY_HELPER __attribute__((always_inline)) static inline

// Rarely called, and not worth to be had twice.
#define RELAY_OUTLINED __attribute__((noinline)) static

#endif
