/// The part of `sui::tx_context` that the vault uses, after the public reference of the Sui framework. The context here
/// carries what the tests need; on the chain it is made by the runtime.
module sui::tx_context;

public struct TxContext has drop {
    sender: address,
    tx_hash: vector<u8>,
    ids_created: u64,
}

public fun sender(self: &TxContext): address {
    self.sender
}

/// The digest of the transaction: 32 bytes.
public fun digest(self: &TxContext): &vector<u8> {
    &self.tx_hash
}

public(package) fun next_id(self: &mut TxContext): u64 {
    self.ids_created = self.ids_created + 1;
    self.ids_created
}

#[test_only]
/// In the transaction 0, like everything else that a test does with it.
public fun from_sender(sender: address): TxContext {
    from_transaction(sender, 0)
}

#[test_only]
/// A transaction of its own for each number.
public fun from_transaction(sender: address, number: u8): TxContext {
    TxContext { sender, tx_hash: digest_of(number), ids_created: 0 }
}

#[test_only]
public fun digest_of(number: u8): vector<u8> {
    let mut digest = vector[];
    while (digest.length() < 32) digest.push_back(number);
    digest
}

#[test_only]
/// An address of its own for each number.
public fun address_from(number: u64): address {
    sui::address::from_u256(number as u256)
}
