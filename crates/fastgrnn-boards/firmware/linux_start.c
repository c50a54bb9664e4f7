/* The start of an image that reads and writes no files. */
int main(void);
void _start(void);

void _start(void)
{
    main();
}
