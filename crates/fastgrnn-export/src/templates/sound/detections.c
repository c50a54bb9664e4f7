/* Called after every frame. Prints each detection once. */
static void hear(void)
{
    if (audio.heard >= 0) {
        @name@_put_label((uint16_t)audio.heard, put);
        put(' ');
        @name@_put_number((int32_t)(audio.confidence * 100L / 32768L), put);
        @name@_put_text(@NAME@_TEXT(" %\r\n"), put);
    }
}
