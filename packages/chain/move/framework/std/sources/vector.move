#[defines_primitive(vector)]
/// The part of `std::vector` that the vault uses, after the public reference of the Move standard library.
module std::vector;

#[bytecode_instruction]
public native fun empty<Element>(): vector<Element>;

#[bytecode_instruction]
public native fun length<Element>(v: &vector<Element>): u64;

#[syntax(index)]
#[bytecode_instruction]
public native fun borrow<Element>(v: &vector<Element>, i: u64): &Element;

#[syntax(index)]
#[bytecode_instruction]
public native fun borrow_mut<Element>(v: &mut vector<Element>, i: u64): &mut Element;

#[bytecode_instruction]
public native fun push_back<Element>(v: &mut vector<Element>, e: Element);

#[bytecode_instruction]
public native fun pop_back<Element>(v: &mut vector<Element>): Element;

#[bytecode_instruction]
public native fun destroy_empty<Element>(v: vector<Element>);

#[bytecode_instruction]
public native fun swap<Element>(v: &mut vector<Element>, i: u64, j: u64);

/// Takes one element out; those behind it move up and keep their order.
public fun remove<Element>(v: &mut vector<Element>, i: u64): Element {
    let last = length(v) - 1;
    let mut at = i;
    while (at < last) {
        swap(v, at, at + 1);
        at = at + 1;
    };
    pop_back(v)
}
