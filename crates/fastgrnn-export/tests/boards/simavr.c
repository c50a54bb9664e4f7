/* Runs a program on an ATmega328P in simavr and prints what its serial port sends, until a line that
 * begins with P or F (PASS, FAIL) ends or a minute of the board's time is over. */
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdio.h>

static int at_start = 1, verdict, done;

static void receive(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)param;
    if (at_start)
        verdict = value == 'P' || value == 'F';
    at_start = value == '\n';
    done = at_start && verdict;
    if (value != '\r')
        putchar((int)value);
}

int main(int count, char **arguments)
{
    elf_firmware_t firmware = {0};
    uint32_t flags = 0;
    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    if (count != 2 || !avr || elf_read_firmware(arguments[1], &firmware) != 0)
        return 2;
    avr_init(avr);
    avr_load_firmware(avr, &firmware);
    avr->frequency = 16000000;
    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(uint32_t)AVR_UART_FLAG_STDIO;
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), receive, 0);
    while (!done && avr->cycle < 60ULL * 16000000) {
        int state = avr_run(avr);
        if (state == cpu_Done || state == cpu_Crashed)
            return 3;
    }
    return done ? 0 : 4;
}
