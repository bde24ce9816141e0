/// Nothing but opcodes: `opcodes.test.ts` runs these functions in the interpreter and in the real Move VM. The vault uses few
/// of them; its next version may use others.
module tried::probe;

public enum Shape has copy, drop {
    Dot,
    Line { length: u64 },
    Area { width: u64, height: u64 },
}

public struct Pair<T> has copy, drop {
    first: T,
    second: T,
}

/// Grows a shape through a mutable reference, and takes it apart by value.
public fun shape(kind: u8, a: u64, b: u64): u64 {
    let mut shape = if (kind == 0) Shape::Dot
    else if (kind == 1) Shape::Line { length: a }
    else Shape::Area { width: a, height: b };
    let before = shape;
    grow(&mut shape, b);
    let same = if (shape == before) 1 else 0;
    size(&before) + size(&shape) + same + corners(shape)
}

fun grow(shape: &mut Shape, by: u64) {
    match (shape) {
        Shape::Dot => (),
        Shape::Line { length } => *length = *length + by,
        Shape::Area { width, height } => {
            *width = *width + by;
            *height = *height * 2;
        },
    }
}

fun size(shape: &Shape): u64 {
    match (shape) {
        Shape::Dot => 0,
        Shape::Line { length } => *length,
        Shape::Area { width, height } => *width * *height,
    }
}

fun corners(shape: Shape): u64 {
    match (shape) {
        Shape::Dot => 1,
        Shape::Line { length: _ } => 2,
        Shape::Area { width, height } if (width == height) => 40,
        Shape::Area { width: _, height: _ } => 4,
    }
}

/// A vector as a machine: each byte is an act on it.
public fun play(acts: vector<u8>): vector<u64> {
    let mut stack = vector[7u64, 8];
    let mut at = 0;
    while (at < acts.length()) {
        let act = acts[at];
        let value = (act as u64) / 8;
        at = at + 1;
        if (act % 8 == 0) { stack.pop_back(); continue };
        if (act % 8 == 1) { stack.swap(0, value); continue };
        if (act % 8 == 2) { *&mut stack[value] = value * 3; continue };
        if (act % 8 == 3) { let last = stack.length() - 1; let next = stack[last] + value; stack.push_back(next); continue };
        if (act == 255) abort 77;
        stack.push_back(value);
    };
    stack
}

public fun turn(a: u64, b: vector<u8>): (u64, vector<u8>, bool) {
    let mut numbers = Pair { first: a, second: 1 };
    let mut bytes = Pair { first: b, second: b"constant" };
    exchange(&mut numbers);
    exchange(&mut bytes);
    let equal = bytes.first == bytes.second || !(numbers.first != numbers.second);
    let Pair { first, second: _ } = bytes;
    (numbers.second, first, equal)
}

fun exchange<T: copy + drop>(pair: &mut Pair<T>) {
    let first = pair.first;
    pair.first = pair.second;
    pair.second = first;
}
