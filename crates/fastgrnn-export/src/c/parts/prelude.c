#if defined(__AVR__)
#include <avr/pgmspace.h>
#define FG_ROM PROGMEM
#define FG_BYTE(p) ((int8_t)pgm_read_byte(p))
#define FG_WORD(p) ((int16_t)pgm_read_word(p))
#define FG_UWORD(p) ((uint16_t)pgm_read_word(p))
#else
#define FG_ROM
#define FG_BYTE(p) (*(p))
#define FG_WORD(p) (*(p))
#define FG_UWORD(p) (*(p))
#endif

/* Types for values from 0 to 32768 and from -32768 to 32767: those that multiply fastest. */
#if defined(__AVR__)
typedef uint16_t fg_gate;
typedef int16_t fg_value;
#else
typedef int32_t fg_gate;
typedef int32_t fg_value;
#endif

/* The sum of a row's products, and the start of the next row. */
typedef struct {
    int32_t sum;
    const int8_t *next;
} fg_row;

/* Whether v is negative or 2^bits or more, bits being at most 15. */
#if defined(__AVR__)
#define FG_BEYOND(v, bits) \
    (((uint16_t)((uint32_t)(v) >> 16) | (uint16_t)((uint16_t)(v) & (uint16_t)(65535u << (bits)))) != 0)
#else
#define FG_BEYOND(v, bits) ((uint32_t)(v) >> (bits) != 0)
#endif

/* Each piece of assembly has equivalent C next to it; -DFG_NO_ASM selects the C. Without
   optimisation, compilers do not have enough registers for the assembly. */
#if defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(FG_NO_ASM)
#if defined(__AVR_HAVE_MUL__)
#define FG_AVR_ASM
#elif defined(__thumb__) && !defined(__thumb2__)
#define FG_THUMB_ASM
#endif
#endif

#if defined(__GNUC__)
#define FG_ALONE static __attribute__((noinline))
#define FG_INLINE static inline __attribute__((always_inline))
/* Keeps the compiler from merging the code before it with the code after it. */
#define FG_KEEP(v) __asm__("" : "+r"(v))
#define FG_FENCE() __asm__ volatile("" ::: "memory")
#else
#define FG_ALONE static
#define FG_INLINE static inline
#define FG_KEEP(v) ((void)0)
#define FG_FENCE() ((void)0)
#endif

#if defined(__GNUC__) && defined(__arm__)
/* Keeps a constant in a register; otherwise it is built again at each use. */
#define FG_HOLD(v) FG_KEEP(v)
#else
#define FG_HOLD(v) ((void)0)
#endif
