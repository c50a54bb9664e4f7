
/* A stream that never stops: what is heard in it, once for each time.

   @name@_detector detector;
   @name@_init(&state);
   @name@_detector_init(&detector);
   for every frame: k = @name@_listen(&state, &detector, counts, &confidence);
                    k is the class that was heard, or -1 */
#define @NAME@_KEYWORDS @keywords@ /* classes that are reported */
#define @NAME@_THRESHOLD @threshold@u /* of a smoothed posterior; 32768 is certainty */
#define @NAME@_DETECTOR_BYTES sizeof(@name@_detector)

typedef struct @name@_detector {
    uint32_t sums[@NAME@_KEYWORDS]; /* smoothed posteriors with @smoothing@ more bits */
    uint16_t counted; /* frames towards a reset of the network */
    uint16_t warming; /* frames of warm-up left */
    uint16_t resting; /* frames left without a detection */
    uint16_t held; /* the class reported last, until its posterior falls; 65535 for none */
} @name@_detector;

/* Before the first frame of a stream. */
void @name@_detector_init(@name@_detector *detector);

/* Takes one frame: resets the network where that is due, makes its step, and returns the class that
   was heard, or -1. Its smoothed posterior, 32768 for certainty, goes to confidence unless that is a
   null pointer. */
int32_t @name@_listen(@name@_state *state, @name@_detector *detector, const int16_t *counts, uint16_t *confidence);
