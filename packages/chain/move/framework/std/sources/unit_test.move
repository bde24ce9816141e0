#[test_only]
/// What the tests use of `std::unit_test`, after the public reference of the Move standard library.
module std::unit_test;

public native fun destroy<T>(v: T);

/// The compiler calls it in test builds, so that none of them can be published.
public native fun poison();
