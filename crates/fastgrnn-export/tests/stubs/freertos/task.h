/* As much of ESP-IDF as the generated example uses. */
#ifndef TASK_STUB_H
#define TASK_STUB_H
#include "FreeRTOS.h"
TickType_t xTaskGetTickCount(void);
void vTaskDelayUntil(TickType_t *last, TickType_t ticks);
#endif
