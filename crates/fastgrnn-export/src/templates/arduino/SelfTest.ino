// Checks that this board computes what the host computed. Prints every score, PASS or FAIL, and the
// time of a step. Open the serial monitor at 115200 baud.
#include <Arduino.h>
#include <@name@.h>
#include <@name@_selftest.h>
#include <@name@_text.h>

static const uint16_t TIMED_STEPS = 64;

static void put(char c) {
  Serial.write((uint8_t)c);
}

static void time_steps() {
  static @name@_state state;
  int16_t counts[@NAME@_FEATURES];
  @name@_golden_frame(0, 0, counts);
  @name@_init(&state);
  unsigned long start = micros();
  for (uint16_t i = 0; i < TIMED_STEPS; i++) {
    @name@_step(&state, counts);
  }
  unsigned long taken = micros() - start;
  @name@_put_number((int32_t)(taken / TIMED_STEPS), put);
  @name@_put_text(@NAME@_TEXT(" microseconds a step\r\n"), put);
}

void setup() {
  Serial.begin(115200);
  while (!Serial && millis() < 5000) {
  }
}

void loop() {
  @name@_selftest(put);
  time_steps();
  delay(10000);
}
