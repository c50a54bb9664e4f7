/* As much of Arduino's PDM library as the generated sketch uses. */
#ifndef PDM_STUB_H
#define PDM_STUB_H
#include <stddef.h>
struct PDMClass {
  int begin(int channels, int rate);
  int available();
  int read(void *buffer, size_t size);
  void onReceive(void (*function)(void));
};
extern PDMClass PDM;
#endif
