/// The part of `sui::tx_context` that the vault uses, after the public reference of the Sui framework. The context here
/// carries what the tests need; on the chain it is made by the runtime.
module sui::tx_context;

public struct TxContext has drop {
    sender: address,
    ids_created: u64,
}

public fun sender(self: &TxContext): address {
    self.sender
}

public(package) fun next_id(self: &mut TxContext): u64 {
    self.ids_created = self.ids_created + 1;
    self.ids_created
}

#[test_only]
public fun from_sender(sender: address): TxContext {
    TxContext { sender, ids_created: 0 }
}

#[test_only]
/// An address of its own for each number.
public fun address_from(number: u64): address {
    sui::address::from_u256(number as u256)
}
