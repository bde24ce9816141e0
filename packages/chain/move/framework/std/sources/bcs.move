/// The part of `std::bcs` that the framework interface uses, after the public reference of the Move standard library.
module std::bcs;

public native fun to_bytes<Value>(v: &Value): vector<u8>;
