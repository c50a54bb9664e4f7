/* As much of Zephyr as the generated sample uses. */
#ifndef KERNEL_STUB_H
#define KERNEL_STUB_H
#include <stddef.h>
#include <stdint.h>
uint32_t k_cycle_get_32(void);
uint32_t k_cyc_to_us_floor32(uint32_t cycles);
typedef struct {
    int64_t ticks;
} k_timeout_t;
struct k_timer {
    void (*expiry)(struct k_timer *timer);
    void (*stop)(struct k_timer *timer);
};
#define K_MSEC(ms) ((k_timeout_t){ (ms) })
#define K_TIMER_DEFINE(name, expiry_fn, stop_fn) struct k_timer name = { expiry_fn, stop_fn }
void k_timer_start(struct k_timer *timer, k_timeout_t first, k_timeout_t period);
uint32_t k_timer_status_sync(struct k_timer *timer);
#endif
