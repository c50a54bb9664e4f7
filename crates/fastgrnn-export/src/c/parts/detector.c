
void @name@_detector_init(@name@_detector *detector)
{
    uint16_t j;
    for (j = 0; j < @NAME@_KEYWORDS; j++) {
        detector->sums[j] = 0;
        FG_FENCE();
    }
    detector->counted = 0;
    detector->warming = @warm_up@u;
    detector->resting = 0;
    detector->held = 65535u;
}

int32_t @name@_listen(@name@_state *state, @name@_detector *detector, const int16_t *counts, uint16_t *confidence)
{
    int32_t scores[@NAME@_OUTPUTS];
@locals@    uint32_t most = 0;
    uint16_t j, best = 0;
    uint8_t warm;
@reset@@step@@before@
    warm = detector->warming == 0;
    if (!warm) {
        detector->warming--;
    }
    if (detector->resting != 0) {
        detector->resting--;
    }
    for (j = 0; j < @NAME@_KEYWORDS; j++) {
        const uint16_t k = @class@;
        uint32_t p = 0, average;
        if (warm) {
@posterior@        }
        detector->sums[j] += p - (detector->sums[j] >> @smoothing@);
        average = detector->sums[j] >> @smoothing@;
        if (average > most) {
            most = average;
            best = k;
        }
        if (detector->held == k && average < @NAME@_THRESHOLD) {
            detector->held = 65535u;
        }
    }
    if (most < @NAME@_THRESHOLD || detector->resting != 0 || detector->held == best) {
        return -1;
    }
    detector->resting = @refractory@u;
    detector->held = best;
    if (confidence != 0) {
        *confidence = (uint16_t)most;
    }
    return best;
}
