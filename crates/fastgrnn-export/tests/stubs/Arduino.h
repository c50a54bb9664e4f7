/* As much of Arduino as the generated sketches use, to compile them without its tool chain. */
#ifndef ARDUINO_STUB_H
#define ARDUINO_STUB_H
#include <stddef.h>
#include <stdint.h>
#define A0 14
extern "C" {
int analogRead(uint8_t pin);
unsigned long micros(void);
unsigned long millis(void);
void delay(unsigned long ms);
}
struct HardwareSerial {
  void begin(unsigned long baud);
  size_t write(uint8_t byte);
  size_t println(const char *text);
  operator bool();
};
extern HardwareSerial Serial;
void setup();
void loop();
#endif
