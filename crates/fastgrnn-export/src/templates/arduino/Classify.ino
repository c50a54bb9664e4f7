// Reads sensors at a steady rate and prints the result of @name@ for each window of frames.
//
// Two things to fill in: read_sensor(), and PERIOD. Everything else works as it is.
#include <Arduino.h>
#include <@name@.h>
#include <@name@_text.h>

// Microseconds from one frame to the next: the rate of the recordings in the training data.
static const unsigned long PERIOD = 20000;
// Frames in a window: the longest recording in the training data.
static const uint16_t STEPS = @steps@;
static const uint16_t FEATURES = @NAME@_FEATURES;

static @name@_state state;
static uint16_t steps;
static unsigned long next_frame;

// FILL IN: the raw reading of a feature, in counts (README.md says what a count is worth). Here
// every feature is the voltage at pin A0, so that the sketch runs as it is.
static int16_t read_sensor(uint16_t feature) {
  (void)feature;
  return (int16_t)analogRead(A0);
}

static void read_frame(int16_t *counts) {
@readings@}

static void put(char c) {
  Serial.write((uint8_t)c);
}

void setup() {
  Serial.begin(115200);
  @name@_init(&state);
  next_frame = micros();
}

void loop() {
  long late = (long)(micros() - next_frame);
  if (late < 0) {
    return;
  }
  if (late > (long)PERIOD) {
    // Frames were missed; catching up would only read the same moment several times.
    @name@_put_text(@NAME@_TEXT("too slow\r\n"), put);
    next_frame = micros();
  }
  next_frame += PERIOD;

  int16_t counts[FEATURES];
  read_frame(counts);
  @name@_step(&state, counts);

  if (++steps == STEPS) {
    int32_t scores[@NAME@_OUTPUTS];
    uint8_t confidence;
    uint16_t winner = @name@_classify(&state, scores, &confidence);
    @name@_put_result(winner, scores, confidence, put);
    @name@_reset(&state);
    steps = 0;
  }
}
