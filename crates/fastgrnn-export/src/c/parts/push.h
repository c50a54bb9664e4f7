
/* The input is sound. An AVR has no room for this part and takes frames of features.

   static @name@_audio audio;
   @name@_audio_init(&audio);
   for every piece of sound, of any length, at @rate@ samples a second:
       const int16_t *at = pcm;
       while ((at = @name@_push(&audio, at, pcm + n)) != 0) {
           a frame was heard and the network has taken it:
           @use@
       } */
#if !defined(__AVR__)
#define @NAME@_RATE @rate@ /* samples per second */
#define @NAME@_HOP @hop@ /* samples from one frame to the next */
#define @NAME@_FRONT_BYTES @tables@ /* tables of the front end in flash */
#define @NAME@_AUDIO_BYTES sizeof(@name@_audio) /* RAM of the front end and the network's state */

/* The values of the transform, which the powers replace. */
typedef union @name@_spectrum {
    int32_t z[@fft@];
    uint32_t power[@fft@];
} @name@_spectrum;

/* A stream of sound and the state of its network. */
typedef struct @name@_audio {
    @name@_spectrum work;
    @name@_state state;
@heard@    int16_t samples[@samples@]; /* the sample before the window, then the window */
@member@    int16_t row[@features@]; /* the features of the last frame, in 1/256 nat */
    uint16_t filled; /* samples in the window */
    uint16_t seen; /* of these, samples that were part of a frame */
} @name@_audio;

#ifdef @NAME@_MAX_RAM
/* An error here means that a stream takes more RAM than @NAME@_MAX_RAM allows. */
typedef char @name@_audio_needs_more_than_@NAME@_MAX_RAM
    [(sizeof(@name@_audio) + @NAME@_SCRATCH_BYTES + 4 * @NAME@_OUTPUTS <= @NAME@_MAX_RAM) ? 1 : -1];
#endif

/* Call this before the first sample. */
void @name@_audio_init(@name@_audio *audio);

/* Call this between recordings. It forgets all samples so far. */
void @name@_audio_reset(@name@_audio *audio);

/* Takes samples up to `end`, or up to the one that completes a frame, on which the network then
   makes a step. Returns where the next call goes on after such a frame, and 0 when all samples
   were taken without one. */
const int16_t *@name@_push(@name@_audio *audio, const int16_t *samples, const int16_t *end);

/* Where a recording has an end: samples that no frame has seen make a last one. Returns whether
   there was one. The network's state stays as it is. */
uint8_t @name@_finish(@name@_audio *audio);
#endif
