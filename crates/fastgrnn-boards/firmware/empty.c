/* An application without a model, whose size is subtracted from that of the application. */
int main(void)
{
    for (;;) {
    }
}
