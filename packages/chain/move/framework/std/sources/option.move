/// The part of `std::option` that the vault uses, after the public reference of the Move standard library.
module std::option;

public struct Option<Element> has copy, drop, store {
    vec: vector<Element>,
}

public fun none<Element>(): Option<Element> {
    Option { vec: vector[] }
}

public fun some<Element>(e: Element): Option<Element> {
    Option { vec: vector[e] }
}
