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
    let bytes = sui::address::from_u256(ctx.next_id() as u256);
    record_new_uid(bytes);
    UID { id: ID { bytes } }
}

public fun uid_to_inner(uid: &UID): ID {
    uid.id
}

public fun uid_to_bytes(uid: &UID): vector<u8> {
    std::bcs::to_bytes(&uid.id.bytes)
}

/// The runtime shares only what it knows to be new.
native fun record_new_uid(id: address);
