/* As much of Zephyr as the generated sample uses. */
#ifndef KERNEL_STUB_H
#define KERNEL_STUB_H
#include <stdint.h>
uint32_t k_cycle_get_32(void);
uint32_t k_cyc_to_us_floor32(uint32_t cycles);
int32_t k_msleep(int32_t ms);
#endif
