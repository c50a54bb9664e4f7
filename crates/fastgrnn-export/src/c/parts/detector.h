
/* Detections in a continuous stream, one for each time that a keyword occurs.

   @name@_detector detector;
   @name@_init(&state);
   @name@_detector_init(&detector);
   for every frame: k = @name@_listen(&state, &detector, counts, &confidence);
                    k is the class that was detected, or -1 */
#define @NAME@_KEYWORDS @keywords@ /* classes that are reported */
#define @NAME@_THRESHOLD @threshold@u /* of a smoothed posterior; 32768 is certainty */
#define @NAME@_DETECTOR_BYTES sizeof(@name@_detector)

typedef struct @name@_detector {
    uint32_t sums[@NAME@_KEYWORDS]; /* smoothed posteriors with @smoothing@ more bits */
    uint16_t counted; /* frames counted for the next reset of the network */
    uint16_t warming; /* remaining frames of warm-up */
    uint16_t resting; /* remaining frames without a detection */
    uint16_t held; /* the last class reported, until its posterior falls; 65535 for none */
} @name@_detector;

/* Call this before the first frame of a stream. */
void @name@_detector_init(@name@_detector *detector);

/* Takes one frame: resets the network where that is due, makes its step, and returns the class that
   was heard, or -1. Its smoothed posterior, 32768 for certainty, goes to confidence unless that is a
   null pointer. */
int32_t @name@_listen(@name@_state *state, @name@_detector *detector, const int16_t *counts, uint16_t *confidence);
