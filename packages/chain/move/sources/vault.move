/// The allowlist of a shared vault: whom the Seal key servers give the keys of its files.
///
/// The generation counts the acts that take a right away. Each entry of a member says for which generations its signing
/// key holds; an entry that is closed moves to `former`, so that what was signed under it can be verified for ever.
/// Functions are `entry` and not `public`: no other package can act on a vault in the name of who called it.
module coffer::vault;

use sui::event;

// === What a vault holds at most: 235 KB of the 250 KB that an object may have ===

const MAX_MEMBERS: u64 = 1000;
const MAX_FORMER: u64 = 2000;
/// Closed entries of one address that it can make by replacing its key: nobody pushes others out of `former` alone.
const MAX_REPLACED_KEYS: u64 = 16;

const SIGNING_KEY_BYTES: u64 = 32;
const ID_BYTES: u64 = 32;
/// vault(32) || generation(u64, big endian) || nonce(16).
const IDENTITY_BYTES: u64 = 56;

// === Abort codes: plain numbers, so that a moved line changes no byte ===

const ENotOwner: u64 = 1;
const ENotMember: u64 = 2;
const EAlreadyMember: u64 = 3;
const EIsOwner: u64 = 4;
const EMembersFull: u64 = 5;
const EBadSigningKey: u64 = 6;
const ENotOffered: u64 = 7;
const EFloorAboveGeneration: u64 = 8;
const EFloorLowered: u64 = 9;
const EBadIdentity: u64 = 10;
const EOtherVault: u64 = 11;
const ELaterGeneration: u64 = 12;
const ENoAccess: u64 = 13;
const ETooManyKeys: u64 = 14;

// === The object ===

public struct Vault has key {
    id: UID,
    /// Begins at 1; raised by every act that takes a right away.
    generation: u64,
    /// The lowest generation whose statements still hold.
    floor: u64,
    /// Whether names and content types are stored unencrypted; fixed for good.
    plain_names: bool,
    owner: Member,
    /// Who may accept the ownership.
    offered: Option<address>,
    members: vector<Member>,
    former: vector<Former>,
}

/// `signing_key` is an Ed25519 public key, or empty for a member that only reads. It holds from generation `since`.
public struct Member has copy, drop, store {
    chain_address: address,
    signing_key: vector<u8>,
    since: u64,
}

/// A closed entry: its key held from generation `since` to `until`, both included.
public struct Former has copy, drop, store {
    chain_address: address,
    signing_key: vector<u8>,
    since: u64,
    until: u64,
}

// === Events ===

public struct VaultCreated has copy, drop {
    vault: ID,
    owner: address,
    plain_names: bool,
}

public struct MemberAdded has copy, drop {
    vault: ID,
    member: address,
    generation: u64,
}

/// `generation` is the new one; `by` is the member itself when it left.
public struct MemberRemoved has copy, drop {
    vault: ID,
    member: address,
    by: address,
    generation: u64,
}

public struct SigningKeySet has copy, drop {
    vault: ID,
    member: address,
    generation: u64,
}

/// `to` is the owner when an offer was withdrawn.
public struct OwnershipOffered has copy, drop {
    vault: ID,
    owner: address,
    to: address,
}

public struct OwnershipAccepted has copy, drop {
    vault: ID,
    from: address,
    to: address,
    generation: u64,
}

public struct FloorRaised has copy, drop {
    vault: ID,
    floor: u64,
}

// === Acts ===

/// Shares a new vault that belongs to the sender.
entry fun create(signing_key: vector<u8>, plain_names: bool, ctx: &mut TxContext) {
    transfer::share_object(new(signing_key, plain_names, ctx));
}

/// Adds a member; by the owner. Everything ever written is open to it.
entry fun add(vault: &mut Vault, member: address, signing_key: vector<u8>, ctx: &TxContext) {
    assert_owner(vault, ctx);
    assert_signing_key(&signing_key);
    assert!(member != vault.owner.chain_address, EIsOwner);
    assert!(find(&vault.members, member) == vault.members.length(), EAlreadyMember);
    assert!(vault.members.length() < MAX_MEMBERS, EMembersFull);
    vault.members.push_back(Member { chain_address: member, signing_key, since: vault.generation });
    event::emit(MemberAdded { vault: object::uid_to_inner(&vault.id), member, generation: vault.generation });
}

/// Removes a member; by the owner.
entry fun remove(vault: &mut Vault, member: address, ctx: &TxContext) {
    assert_owner(vault, ctx);
    take_out(vault, member, ctx);
}

/// Removes the sender. The owner hands the vault on instead.
entry fun leave(vault: &mut Vault, ctx: &TxContext) {
    assert!(ctx.sender() != vault.owner.chain_address, EIsOwner);
    take_out(vault, ctx.sender(), ctx);
}

/// Sets the sender's own signing key. The first one takes no right away; replacing one closes the entry it was in. The
/// key that is set already changes nothing.
entry fun set_signing_key(vault: &mut Vault, signing_key: vector<u8>, ctx: &TxContext) {
    assert_signing_key(&signing_key);
    let member = ctx.sender();
    let old = *entry_of(vault, member);
    if (old.signing_key == signing_key) return;
    if (old.signing_key.length() > 0) {
        assert!(count_former(&vault.former, member) < MAX_REPLACED_KEYS, ETooManyKeys);
        close(vault, old);
        vault.generation = vault.generation + 1;
    };
    let since = if (old.signing_key.length() > 0) vault.generation else old.since;
    *entry_of(vault, member) = Member { chain_address: member, signing_key, since };
    event::emit(SigningKeySet { vault: object::uid_to_inner(&vault.id), member, generation: vault.generation });
}

/// Offers the ownership to an address, in place of whom it was offered to; by the owner. An offer to the owner itself
/// withdraws the one that stands.
entry fun offer_ownership(vault: &mut Vault, to: address, ctx: &TxContext) {
    assert_owner(vault, ctx);
    let owner = vault.owner.chain_address;
    vault.offered = if (to == owner) option::none() else option::some(to);
    event::emit(OwnershipOffered { vault: object::uid_to_inner(&vault.id), owner, to });
}

/// Makes the sender the owner, if it was offered to it. The old owner has no access afterwards.
entry fun accept_ownership(vault: &mut Vault, signing_key: vector<u8>, ctx: &TxContext) {
    assert_signing_key(&signing_key);
    let to = ctx.sender();
    assert!(vault.offered == option::some(to), ENotOffered);
    let from = vault.owner;
    close(vault, from);
    let at = find(&vault.members, to);
    if (at < vault.members.length()) {
        let entry = vault.members.remove(at);
        close(vault, entry);
    };
    vault.generation = vault.generation + 1;
    vault.offered = option::none();
    vault.owner = Member { chain_address: to, signing_key, since: vault.generation };
    event::emit(OwnershipAccepted {
        vault: object::uid_to_inner(&vault.id),
        from: from.chain_address,
        to,
        generation: vault.generation,
    });
}

/// Declares what was signed below a generation void, once nothing of it is left; by the owner.
entry fun raise_floor(vault: &mut Vault, floor: u64, ctx: &TxContext) {
    assert_owner(vault, ctx);
    assert!(floor <= vault.generation, EFloorAboveGeneration);
    assert!(floor >= vault.floor, EFloorLowered);
    if (floor == vault.floor) return;
    vault.floor = floor;
    event::emit(FloorRaised { vault: object::uid_to_inner(&vault.id), floor });
}

// === What Seal key servers ask ===

/// Aborts unless the sender may have the key of this identity.
entry fun seal_approve(id: vector<u8>, vault: &Vault, ctx: &TxContext) {
    assert!(id.length() == IDENTITY_BYTES, EBadIdentity);
    assert!(begins_with(&id, &object::uid_to_bytes(&vault.id)), EOtherVault);
    assert!(read_u64(&id, ID_BYTES) <= vault.generation, ELaterGeneration);
    let sender = ctx.sender();
    assert!(
        sender == vault.owner.chain_address || find(&vault.members, sender) < vault.members.length(),
        ENoAccess,
    );
}

// === Inside ===

fun new(signing_key: vector<u8>, plain_names: bool, ctx: &mut TxContext): Vault {
    assert_signing_key(&signing_key);
    let owner = ctx.sender();
    let vault = Vault {
        id: object::new(ctx),
        generation: 1,
        floor: 1,
        plain_names,
        owner: Member { chain_address: owner, signing_key, since: 1 },
        offered: option::none(),
        members: vector[],
        former: vector[],
    };
    event::emit(VaultCreated { vault: object::uid_to_inner(&vault.id), owner, plain_names });
    vault
}

fun assert_owner(vault: &Vault, ctx: &TxContext) {
    assert!(ctx.sender() == vault.owner.chain_address, ENotOwner);
}

fun assert_signing_key(key: &vector<u8>) {
    assert!(key.length() == 0 || key.length() == SIGNING_KEY_BYTES, EBadSigningKey);
}

/// Ends a membership, and the offer to the member with it: an offer is a right as well.
fun take_out(vault: &mut Vault, member: address, ctx: &TxContext) {
    let at = find(&vault.members, member);
    assert!(at < vault.members.length(), ENotMember);
    let entry = vault.members.remove(at);
    close(vault, entry);
    vault.generation = vault.generation + 1;
    if (vault.offered == option::some(member)) vault.offered = option::none();
    event::emit(MemberRemoved {
        vault: object::uid_to_inner(&vault.id),
        member,
        by: ctx.sender(),
        generation: vault.generation,
    });
}

/// Keeps an entry as a former one. The oldest gives way when there are too many, so that a removal never fails.
fun close(vault: &mut Vault, entry: Member) {
    if (vault.former.length() == MAX_FORMER) {
        vault.former.remove(0);
    };
    let Member { chain_address, signing_key, since } = entry;
    vault.former.push_back(Former { chain_address, signing_key, since, until: vault.generation });
}

fun entry_of(vault: &mut Vault, member: address): &mut Member {
    if (member == vault.owner.chain_address) return &mut vault.owner;
    let at = find(&vault.members, member);
    assert!(at < vault.members.length(), ENotMember);
    &mut vault.members[at]
}

/// The member's place, or the number of members when it is none.
fun find(members: &vector<Member>, member: address): u64 {
    let mut at = 0;
    while (at < members.length() && members[at].chain_address != member) at = at + 1;
    at
}

fun count_former(former: &vector<Former>, member: address): u64 {
    let mut at = 0;
    let mut count = 0;
    while (at < former.length()) {
        if (former[at].chain_address == member) count = count + 1;
        at = at + 1;
    };
    count
}

fun begins_with(bytes: &vector<u8>, prefix: &vector<u8>): bool {
    let mut at = 0;
    while (at < prefix.length()) {
        if (bytes[at] != prefix[at]) return false;
        at = at + 1;
    };
    true
}

/// Big endian, like every integer of the file format.
fun read_u64(bytes: &vector<u8>, start: u64): u64 {
    let mut value = 0;
    let mut at = start;
    while (at < start + 8) {
        value = (value << 8) | (bytes[at] as u64);
        at = at + 1;
    };
    value
}
