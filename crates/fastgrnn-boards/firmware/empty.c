/* What the application's size is compared with: the same start-up code and nothing to do. */
int main(void)
{
    for (;;) {
    }
}
