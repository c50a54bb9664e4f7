/* As much of ESP-IDF as the generated example uses. */
#ifndef TASK_STUB_H
#define TASK_STUB_H
#include "FreeRTOS.h"
void vTaskDelay(TickType_t ticks);
#endif
