@introduction@#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "@name@.h"
#include "@name@_selftest.h"
#include "@name@_text.h"

@period@#define PERIOD 20

K_TIMER_DEFINE(period_timer, NULL, NULL);

static void put(char c)
{
    printk("%c", c);
}

typedef uint32_t moment;

static moment now(void)
{
    return k_cycle_get_32();
}

static int32_t microseconds_since(moment start)
{
    return (int32_t)k_cyc_to_us_floor32(k_cycle_get_32() - start);
}

/* Waits until PERIOD has passed since the last call, however long the caller took in between. */
static void wait_for_period(void)
{
    static uint8_t runs;
    if (!runs) {
        k_timer_start(&period_timer, K_MSEC(PERIOD), K_MSEC(PERIOD));
        runs = 1;
    }
    if (k_timer_status_sync(&period_timer) > 1)
        printk("too slow: a period was missed\n");
}

@body@
int main(void)
{
    run();
    return 0;
}
