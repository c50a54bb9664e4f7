# Start of a bare RISC-V: stack, variables, main.
    .section .vectors, "ax"
    .global reset
reset:
    la sp, __stack
    la t0, fault
    csrw mtvec, t0
    la a0, __data_start
    la a1, __data_end
    la a2, __data_load
    j 2f
1:  lw a3, 0(a2)
    sw a3, 0(a0)
    addi a0, a0, 4
    addi a2, a2, 4
2:  bltu a0, a1, 1b
    la a0, __bss_start
    la a1, __bss_end
    j 4f
3:  sw zero, 0(a0)
    addi a0, a0, 4
4:  bltu a0, a1, 3b
    call main
    j fault

    .weak fault
    .balign 4
fault:
    j fault
