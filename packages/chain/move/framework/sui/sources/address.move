/// The part of `sui::address` that the tests use, after the public reference of the Sui framework.
module sui::address;

public native fun from_u256(n: u256): address;
