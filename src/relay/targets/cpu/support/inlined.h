// How functions become part of a program that is compiled together with them: kept although nothing here calls them.

#ifndef RELAY_INLINED_H
#define RELAY_INLINED_H

#define RELAY_PART_OF_PROGRAM __attribute__((used)) static
#define RELAY_INLINED __attribute__((used, always_inline)) static inline

#endif
