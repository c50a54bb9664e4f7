/* The entry point of an image that does not read or write files. */
int main(void);
void _start(void);

void _start(void)
{
    main();
}
