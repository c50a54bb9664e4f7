// Listens to a microphone and prints what @name@ detects to the serial port (115200 baud).
//
// Samples go into a ring; loop() takes them out and pushes them into the network. On boards with a
// PDM microphone (Nano 33 BLE Sense, Nano RP2040 Connect) it works without changes. On others it reads
// a microphone with an amplifier at pin A0; a driver of your own calls take_sample() instead.
#include <Arduino.h>
#include <@name@.h>
#include <@name@_text.h>

#if defined(__AVR__)
#error "an AVR has no room for the front end: there, @name@_step() takes frames of features (README.md)"
#endif

#if defined(ARDUINO_ARDUINO_NANO33BLE) || defined(ARDUINO_NANO_RP2040_CONNECT)
#include <PDM.h>
#define HAS_PDM
#endif

static @name@_audio audio;

// Samples that have arrived but were not pushed yet. The size is a power of two, and more than arrive
// while the network takes a frame.
static const uint16_t RING = 2048;
static int16_t ring[RING];
static volatile uint16_t written;
static volatile uint16_t lost;
static volatile uint16_t taken;

// A sample of 16 bits from the microphone, @rate@ times a second; may be called by an interrupt.
static void take_sample(int16_t sample) {
  if ((uint16_t)(written - taken) == RING) {
    lost = lost + 1;
    return;
  }
  ring[written % RING] = sample;
  written = written + 1;
}

#if defined(HAS_PDM)
static void on_sound() {
  static int16_t piece[256];
  while (PDM.available() > 0) {
    int bytes = PDM.available();
    bytes = PDM.read(piece, bytes < (int)sizeof piece ? bytes : (int)sizeof piece);
    for (int i = 0; i < bytes / 2; i++) {
      take_sample(piece[i]);
    }
  }
}

static void start_microphone() {
  PDM.onReceive(on_sound);
  while (!PDM.begin(1, @NAME@_RATE)) {
    Serial.println("this board's microphone does not give @rate@ samples a second");
    delay(1000);
  }
}

static void poll_microphone() {
}
#else
// Reads pin A0 when a sample is due. Nothing is read while the network takes a frame, which is good
// enough for a first try; missed samples are reported. A timer interrupt or DMA misses none.
static unsigned long started;
static uint32_t due;

static void start_microphone() {
  started = micros();
}

static void poll_microphone() {
  // Starts again every second, so that nothing overflows.
  unsigned long passed = micros() - started;
  uint32_t now = (uint32_t)((uint64_t)passed * @NAME@_RATE / 1000000);
  if (now < due) {
    return;
  }
  lost = lost + (uint16_t)(now - due);
  due = now + 1;
  if (due >= @NAME@_RATE) {
    started += 1000000;
    due -= @NAME@_RATE;
  }
  // analogRead gives 10 bits by default, around the middle of the range.
  take_sample((int16_t)((analogRead(A0) - 512) * 64));
}
#endif

static void put(char c) {
  Serial.write((uint8_t)c);
}

@hear@
static void report_lost() {
  static unsigned long last;
  if (lost > 0 && millis() - last > 5000) {
    last = millis();
    @name@_put_number(lost, put);
    @name@_put_text(@NAME@_TEXT(" samples were missed\r\n"), put);
    lost = 0;
  }
}

void setup() {
  Serial.begin(115200);
  @name@_audio_init(&audio);
  start_microphone();
}

void loop() {
  int16_t piece[64];
  uint16_t n = 0;
  poll_microphone();
  while (n < 64 && taken != written) {
    piece[n++] = ring[taken % RING];
    taken = taken + 1;
  }
  const int16_t *at = piece;
  while ((at = @name@_push(&audio, at, piece + n)) != 0) {
    hear();
  }
  report_lost();
}
