@introduction@#include <stdio.h>

#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "@name@.h"
#include "@name@_selftest.h"
#include "@name@_text.h"

@period@#define PERIOD 20

/* Does not compile where PERIOD is less than a tick: raise CONFIG_FREERTOS_HZ. */
typedef char period_is_at_least_one_tick[pdMS_TO_TICKS(PERIOD) >= 1 ? 1 : -1];

static void put(char c)
{
    putchar(c);
}

typedef int64_t moment;

static moment now(void)
{
    return esp_timer_get_time();
}

static int32_t microseconds_since(moment start)
{
    return (int32_t)(esp_timer_get_time() - start);
}

/* Waits until PERIOD has passed since the last call, however long the caller took in between. */
static void wait_for_period(void)
{
    static TickType_t last;
    if (last == 0)
        last = xTaskGetTickCount();
    vTaskDelayUntil(&last, pdMS_TO_TICKS(PERIOD));
}

@body@
void app_main(void)
{
    run();
}
