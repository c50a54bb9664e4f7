//! Two vectors as one: a weight that was broadcast serves both, and their chains overlap.

use super::{IntKernel, IntSimd, Table};

/// An instruction set with twice the lanes.
#[derive(Clone, Copy)]
pub struct DoubleWidth<S>(pub S);

/// A kernel that is given twice the lanes.
struct Doubled<K>(K);

impl<K: IntKernel> IntKernel for Doubled<K> {
    type Output = K::Output;

    #[inline(always)]
    fn run<S: IntSimd>(self, s: S) -> K::Output {
        self.0.run(DoubleWidth(s))
    }
}

/// Methods that do the same to both halves.
macro_rules! both {
    ($($name:ident($($arg:ident),+);)+) => {$(
        #[inline(always)]
        fn $name(self, $($arg: Self::V),+) -> Self::V {
            [self.0.$name($($arg[0]),+), self.0.$name($($arg[1]),+)]
        }
    )+};
}

impl<S: IntSimd> IntSimd for DoubleWidth<S> {
    type V = [S::V; 2];
    const LANES: usize = 2 * S::LANES;
    const REPEATS: bool = S::REPEATS;

    #[inline(always)]
    fn vectorize<K: IntKernel>(self, kernel: K) -> K::Output {
        self.0.vectorize(Doubled(kernel))
    }

    #[inline(always)]
    fn splat(self, x: i32) -> Self::V {
        [self.0.splat(x); 2]
    }

    #[inline(always)]
    unsafe fn read(self, from: *const i32) -> Self::V {
        // SAFETY: the caller promises the lanes of both halves.
        unsafe { [self.0.read(from), self.0.read(from.add(S::LANES))] }
    }

    #[inline(always)]
    unsafe fn write(self, v: Self::V, to: *mut i32) {
        // SAFETY: the caller promises the lanes of both halves.
        unsafe {
            self.0.write(v[0], to);
            self.0.write(v[1], to.add(S::LANES));
        }
    }

    both! {
        add(a, b);
        sub(a, b);
        mul(a, b);
        min(a, b);
        max(a, b);
        and(a, b);
        or(a, b);
        xor(a, b);
        shl(v, by);
        shr(v, by);
        madd(sum, a, b);
        count(count, a, b);
    }

    #[inline(always)]
    fn look_up(self, table: &Table, i: Self::V) -> (Self::V, Self::V) {
        let (a, b) = (self.0.look_up(table, i[0]), self.0.look_up(table, i[1]));
        ([a.0, b.0], [a.1, b.1])
    }
}
