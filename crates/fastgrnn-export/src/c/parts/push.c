/* Computes the features of the window, whose first `valid` samples are filled, and makes the network's step. */
static void front_frame(@name@_audio *audio, uint16_t valid)
{
    int32_t *const z = audio->work.z;
    uint16_t k;
    for (k = valid; k < FRONT_LEN; k++) {
        audio->samples[1 + k] = 0;
        FG_FENCE();
    }
    front_load(audio->samples, z);
    if (valid < FRONT_LEN) {
        /* The position behind the last sample has a sample before it but none of its own. */
        z[2 * front_places[valid / 2] + valid % 2] = 0;
    }
    front_transform(z);
    front_powers(&audio->work);
    front_filters(audio->work.power, audio->@logs@);
@cosines@    @step@
}

void @name@_audio_reset(@name@_audio *audio)
{
    @name@_reset(&audio->state);
@start@    audio->samples[0] = 0;
    audio->filled = 0;
    audio->seen = 0;
}

void @name@_audio_init(@name@_audio *audio)
{
    uint16_t k;
    for (k = 0; k < @features@; k++) {
        audio->row[k] = 0;
        FG_FENCE();
    }
    @name@_init(&audio->state);
    @name@_audio_reset(audio);
}

const int16_t *@name@_push(@name@_audio *audio, const int16_t *samples, const int16_t *end)
{
    const int16_t *const room = audio->samples + 1 + FRONT_LEN;
    int16_t *to = audio->samples + 1 + audio->filled;
    while (samples != end && to != room) {
        *to++ = *samples++;
        FG_FENCE();
    }
    if (to != room) {
        audio->filled = (uint16_t)(to - audio->samples - 1);
        return 0;
    }
    front_frame(audio, FRONT_LEN);
    /* Keep the samples that the next window shares with this one, and the sample before it. */
    for (to = audio->samples; to != audio->samples + 1 + FRONT_LEN - FRONT_HOP; to++) {
        *to = to[FRONT_HOP];
        FG_FENCE();
    }
    audio->filled = audio->seen = FRONT_LEN - FRONT_HOP;
    return samples;
}

uint8_t @name@_finish(@name@_audio *audio)
{
    const uint8_t more = audio->filled > audio->seen;
    if (more) {
        front_frame(audio, audio->filled);
    }
    audio->samples[0] = 0;
    audio->filled = 0;
    audio->seen = 0;
    return more;
}
