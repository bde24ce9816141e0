/// The part of `sui::object` that the vault uses, after the public reference of the Sui framework. Ids here are counted,
/// which is enough for the tests; on the chain the runtime derives them from the transaction.
module sui::object;

use sui::tx_context::TxContext;

public struct ID has copy, drop, store {
    bytes: address,
}

public struct UID has store {
    id: ID,
}

public fun new(ctx: &mut TxContext): UID {
    UID { id: ID { bytes: address_of(ctx.next_id()) } }
}

public fun uid_to_inner(uid: &UID): ID {
    uid.id
}

public fun uid_to_bytes(uid: &UID): vector<u8> {
    std::bcs::to_bytes(&uid.id.bytes)
}

fun address_of(count: u64): address {
    if (count == 1) @0xa1 else if (count == 2) @0xa2 else @0xa3
}
