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

#if defined(__GNUC__)
#define FG_INLINE static inline __attribute__((always_inline))
/* Keeps the compiler from merging what comes before with what comes after. */
#define FG_KEEP(v) __asm__("" : "+r"(v))
#define FG_FENCE() __asm__ volatile("" ::: "memory")
#else
#define FG_INLINE static inline
#define FG_KEEP(v) ((void)0)
#define FG_FENCE() ((void)0)
#endif
