/// The part of `sui::event` that the vault uses, after the public reference of the Sui framework.
module sui::event;

public native fun emit<T: copy + drop>(event: T);
