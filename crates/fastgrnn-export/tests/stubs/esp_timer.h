/* As much of ESP-IDF as the generated example uses. */
#ifndef ESP_TIMER_STUB_H
#define ESP_TIMER_STUB_H
#include <stdint.h>
int64_t esp_timer_get_time(void);
void app_main(void);
#endif
