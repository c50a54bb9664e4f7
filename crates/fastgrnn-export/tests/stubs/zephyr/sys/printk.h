/* As much of Zephyr as the generated sample uses. */
#ifndef PRINTK_STUB_H
#define PRINTK_STUB_H
void printk(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
