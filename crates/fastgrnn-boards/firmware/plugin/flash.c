/* What lies between a core and its flash memory, and what it does with wait states. */
#include "core.h"

#include <string.h>

enum { NONE = 0xffffffff };

/* SAM D21: a direct-mapped cache of 8 lines of 64 bits for code and data alike. */
static uint32_t samd21_lines[8];

static void samd21_forget(void)
{
    memset(samd21_lines, 0xff, sizeof samd21_lines);
}

static uint32_t samd21_access(uint32_t address, uint64_t time)
{
    uint32_t line = address >> 3;
    (void)time;
    if (samd21_lines[line & 7] == line)
        return 0;
    samd21_lines[line & 7] = line;
    return flash.wait;
}

/* SAM3X: two buffers of 128 bits for code, of which one is filled ahead, and one for data. There
   is one flash: what is being filled delays the next miss. */
static struct {
    uint32_t code, ahead, data;
    uint64_t ahead_ready;
} sam3x;

static void sam3x_forget(void)
{
    sam3x.code = sam3x.ahead = sam3x.data = NONE;
    sam3x.ahead_ready = 0;
}

static uint32_t sam3x_miss(uint64_t time)
{
    uint64_t start = sam3x.ahead_ready > time ? sam3x.ahead_ready : time;
    return (uint32_t)(start - time) + flash.wait;
}

static uint32_t sam3x_fetch(uint32_t address, uint64_t time)
{
    uint32_t line = address >> 4, wait;
    if (line == sam3x.code)
        return 0;
    if (line != sam3x.ahead)
        wait = sam3x_miss(time);
    else
        wait = sam3x.ahead_ready > time ? (uint32_t)(sam3x.ahead_ready - time) : 0;
    sam3x.code = line;
    sam3x.ahead = line + 1;
    sam3x.ahead_ready = time + wait + flash.wait + 1;
    return wait;
}

static uint32_t sam3x_read(uint32_t address, uint64_t time)
{
    uint32_t line = address >> 4, wait;
    if (line == sam3x.data)
        return 0;
    wait = sam3x_miss(time);
    sam3x.data = line;
    return wait;
}

/* nRF52840: a cache of 2 KiB for code, 2 ways of 64 lines of 128 bits; none for data. */
static struct {
    uint32_t line[2];
    uint8_t older;
} nrf52[64];

static void nrf52_forget(void)
{
    memset(nrf52, 0xff, sizeof nrf52);
    for (int set = 0; set < 64; set++)
        nrf52[set].older = 0;
}

static uint32_t nrf52_fetch(uint32_t address, uint64_t time)
{
    uint32_t line = address >> 4, set = line & 63;
    (void)time;
    for (uint8_t way = 0; way < 2; way++)
        if (nrf52[set].line[way] == line) {
            nrf52[set].older = !way;
            return 0;
        }
    nrf52[set].line[nrf52[set].older] = line;
    nrf52[set].older = !nrf52[set].older;
    return flash.wait;
}

static uint32_t nothing(uint32_t address, uint64_t time)
{
    (void)address;
    (void)time;
    return flash.wait;
}

static void nothing_forget(void)
{
}

int flash_choose(const char *name)
{
    if (strcmp(name, "samd21") == 0) {
        flash.forget = samd21_forget;
        flash.fetch = flash.read = samd21_access;
    } else if (strcmp(name, "sam3x") == 0) {
        flash.forget = sam3x_forget;
        flash.fetch = sam3x_fetch;
        flash.read = sam3x_read;
    } else if (strcmp(name, "nrf52") == 0) {
        flash.forget = nrf52_forget;
        flash.fetch = nrf52_fetch;
        flash.read = nothing;
    } else if (strcmp(name, "none") == 0) {
        flash.forget = nothing_forget;
        flash.fetch = flash.read = nothing;
    } else {
        return 0;
    }
    return 1;
}
