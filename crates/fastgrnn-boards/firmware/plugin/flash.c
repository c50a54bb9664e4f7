/* The memory between a core and its flash, and the wait states that it hides. */
#include "core.h"

#include <stdio.h>
#include <string.h>

enum { NONE = 0xffffffff, MOST_SETS = 1024, MOST_WAYS = 8 };

/* A set-associative cache that replaces the least recently used way. A line is the address of its
   first byte, divided by the bytes of a line. */
static struct {
    uint32_t sets, ways, shift;
    uint32_t line[MOST_SETS][MOST_WAYS]; /* the most recently used first */
} cache;

static void cache_forget(void)
{
    memset(cache.line, 0xff, sizeof cache.line);
}

static uint32_t cache_access(uint32_t address, uint64_t time)
{
    uint32_t line = address >> cache.shift, *set = cache.line[line & (cache.sets - 1)], way = 0;
    uint32_t wait;
    (void)time;
    while (way < cache.ways && set[way] != line)
        way++;
    wait = way < cache.ways ? 0 : flash.wait;
    if (way == cache.ways)
        way--;
    for (; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = line;
    return wait;
}

/* Two buffers for code, of which one is filled ahead, and one for data. There is one flash: what is
   being filled delays the next miss. */
static struct {
    uint32_t shift;
    uint32_t code, ahead, data;
    uint64_t ahead_ready;
} prefetch;

static void prefetch_forget(void)
{
    prefetch.code = prefetch.ahead = prefetch.data = NONE;
    prefetch.ahead_ready = 0;
}

static uint32_t prefetch_miss(uint64_t time)
{
    uint64_t start = prefetch.ahead_ready > time ? prefetch.ahead_ready : time;
    return (uint32_t)(start - time) + flash.wait;
}

static uint32_t prefetch_fetch(uint32_t address, uint64_t time)
{
    uint32_t line = address >> prefetch.shift, wait;
    if (line == prefetch.code)
        return 0;
    if (line != prefetch.ahead)
        wait = prefetch_miss(time);
    else
        wait = prefetch.ahead_ready > time ? (uint32_t)(prefetch.ahead_ready - time) : 0;
    prefetch.code = line;
    prefetch.ahead = line + 1;
    prefetch.ahead_ready = time + wait + flash.wait + 1;
    return wait;
}

static uint32_t prefetch_read(uint32_t address, uint64_t time)
{
    uint32_t line = address >> prefetch.shift, wait;
    if (line == prefetch.data)
        return 0;
    wait = prefetch_miss(time);
    prefetch.data = line;
    return wait;
}

/* No buffer: every access waits. */
static uint32_t unbuffered(uint32_t address, uint64_t time)
{
    (void)address;
    (void)time;
    return flash.wait;
}

static void unbuffered_forget(void)
{
}

static uint32_t log2_of(uint32_t power)
{
    return (uint32_t)__builtin_ctz(power);
}

static int is_power_of_two(uint32_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

int flash_choose(const char *description)
{
    unsigned sets, ways, line, holds_data;
    if (sscanf(description, "cache:%u:%u:%u:%u", &sets, &ways, &line, &holds_data) == 4) {
        if (!is_power_of_two(sets) || sets > MOST_SETS || ways == 0 || ways > MOST_WAYS || !is_power_of_two(line))
            return 0;
        cache.sets = sets;
        cache.ways = ways;
        cache.shift = log2_of(line);
        flash.forget = cache_forget;
        flash.fetch = cache_access;
        flash.read = holds_data ? cache_access : unbuffered;
    } else if (sscanf(description, "prefetch:%u", &line) == 1) {
        if (!is_power_of_two(line))
            return 0;
        prefetch.shift = log2_of(line);
        flash.forget = prefetch_forget;
        flash.fetch = prefetch_fetch;
        flash.read = prefetch_read;
    } else if (strcmp(description, "none") == 0) {
        flash.forget = unbuffered_forget;
        flash.fetch = flash.read = unbuffered;
    } else {
        return 0;
    }
    return 1;
}
