// Start of a bare 64-bit ARM: stack, vector registers, exceptions, one gigabyte of ordinary memory
// (without it unaligned accesses, which compilers make, would fault), variables, main.
    .section .vectors, "ax"
    .global reset
reset:
    ldr x0, =__stack
    mov sp, x0
    mov x0, #(3 << 20)
    msr cpacr_el1, x0
    ldr x0, =exceptions
    msr vbar_el1, x0
    ldr x0, =table
    msr ttbr0_el1, x0
    mov x0, #0xff               // attribute 0: cached
    msr mair_el1, x0
    ldr x0, =0x800019           // 39 bits of address, pages of 4 KiB, no second half
    msr tcr_el1, x0
    isb
    mrs x0, sctlr_el1
    orr x0, x0, #1
    msr sctlr_el1, x0
    isb
    ldr x0, =__data_start
    ldr x1, =__data_end
    ldr x2, =__data_load
    b 2f
1:  ldr w3, [x2], #4
    str w3, [x0], #4
2:  cmp x0, x1
    b.lo 1b
    ldr x0, =__bss_start
    ldr x1, =__bss_end
    b 4f
3:  str wzr, [x0], #4
4:  cmp x0, x1
    b.lo 3b
    bl main
    b fault

    .weak fault
fault:
    b fault

    .balign 2048
exceptions:
    .rept 16
    b fault
    .balign 128
    .endr

    .balign 4096
table:
    .quad 0
    .quad 0x40000701            // the second gigabyte at its own address
    .fill 510, 8, 0
