/// The part of `sui::clock` that the vault uses, after the public reference of the Sui framework.
module sui::clock;

use sui::object::UID;

public struct Clock has key {
    id: UID,
    timestamp_ms: u64,
}

public fun timestamp_ms(clock: &Clock): u64 {
    clock.timestamp_ms
}

#[test_only]
public fun create_for_testing(ctx: &mut sui::tx_context::TxContext): Clock {
    Clock { id: sui::object::new(ctx), timestamp_ms: 0 }
}

#[test_only]
public fun set_for_testing(clock: &mut Clock, timestamp_ms: u64) {
    clock.timestamp_ms = timestamp_ms;
}
