@ Start of a Cortex-M: stack, vectors, variables, main.
    .syntax unified
    .cpu cortex-m0
    .thumb

    .section .vectors, "a"
    .word __stack
    .word reset
    .rept 14
    .word fault
    .endr

    .text
    .global reset
    .thumb_func
reset:
    ldr r0, =__data_start
    ldr r1, =__data_end
    ldr r2, =__data_load
    b 2f
1:  ldmia r2!, {r3}
    stmia r0!, {r3}
2:  cmp r0, r1
    blo 1b
    ldr r0, =__bss_start
    ldr r1, =__bss_end
    movs r2, #0
    b 4f
3:  stmia r0!, {r2}
4:  cmp r0, r1
    blo 3b
    bl main
    b fault

    .weak fault
    .thumb_func
fault:
    b fault
