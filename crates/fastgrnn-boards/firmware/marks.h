/* Labels around calls: counting starts at one label and ends at the other. Each call is in a function
   of its own, so that its arguments are already in registers and only the call is between the
   labels. */
#ifndef MARKS_H
#define MARKS_H

#include "model.h"

#define MARK(name) __asm__ volatile(".global " #name "\n" #name ":" ::: "memory")
#define ALONE __attribute__((noinline, noclone))

#endif
