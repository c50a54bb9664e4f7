/* Calls between two labels: whoever counts switches on at one and off at the other. The calls are
   in functions of their own, so that their arguments lie in registers already and only the call is
   between the labels. */
#ifndef MARKS_H
#define MARKS_H

#include "model.h"

#define MARK(name) __asm__ volatile(".global " #name "\n" #name ":" ::: "memory")
#define ALONE __attribute__((noinline, noclone))

#endif
