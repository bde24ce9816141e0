/// The allowlist of a shared vault: whom the Seal key servers give the keys of its files.
///
/// The generation counts the acts that take a right away. Each entry of a member says for which generations its signing
/// key holds; an entry that is closed moves to `former`, so that what was signed under it can be verified for ever.
///
/// A membership may end by itself. A key belongs to a generation and to the latest end that had passed when it was made,
/// and whoever has reached that end does not get it: no transaction is needed when the time comes. The next act that raises
/// the generation marks who has ended, and `sweep` moves the marked entries to `former`.
///
/// A signed transaction can be held back and executed later, as long as it is valid. So an act that gives a right names the
/// owner's act before it (`last`), and aborts once the owner has acted since. An act that takes a right away has no such
/// condition: it always counts, and always makes what was held back void, even when it finds nothing to take away.
/// Functions are `entry` and not `public`: no other package can act on a vault in the name of who called it.
module coffer::vault;

use sui::clock::Clock;
use sui::event;

// === What a vault holds at most: 235 KB of the 250 KB that an object may have ===

const MAX_MEMBERS: u64 = 1000;
const MAX_FORMER: u64 = 1800;
/// How often one entry's key can be replaced: nobody pushes others out of `former` alone.
const MAX_REPLACED_KEYS: u8 = 16;
/// Entries that one call moves to `former`.
const MAX_SWEPT: u64 = 50;
/// Entries that an addition to a full list moves: with the raise before it, more would not fit into one transaction of the largest vault.
const MAX_SWEPT_BY_ADD: u64 = 5;
/// How many of the oldest closed entries are looked at for one below the floor, which gives way first.
const LOOK_AHEAD: u64 = 64;

const SIGNING_KEY_BYTES: u64 = 32;
/// vault(32) || generation(u64) || after(u64) || nonce(16), integers big endian.
const IDENTITY_BYTES: u64 = 64;
const NONCE_BYTES: u64 = 16;

/// Ends are whole quarters of an hour: each makes a place of its own, and each place a key.
const END_STEP_MS: u64 = 900_000;
/// The end of a membership that has none.
const NO_END: u64 = 18_446_744_073_709_551_615;

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
const EBadEnd: u64 = 15;
const EEnded: u64 = 16;
const ELaterEnd: u64 = 17;
const ENotLast: u64 = 18;
const EOtherKey: u64 = 19;

// === The object ===

public struct Vault has key {
    id: UID,
    /// Begins at 1; raised by every act that takes a right away.
    generation: u64,
    /// The lowest generation whose statements still hold.
    floor: u64,
    /// The generation that the last rotation began with: a key of it, or of a later one, leads to none of an earlier one.
    base: u64,
    /// Whether names and content types are stored unencrypted; fixed for good.
    plain_names: bool,
    owner: Member,
    /// Who may accept the ownership.
    offered: Option<address>,
    members: vector<Member>,
    former: vector<Former>,
    /// Where the oldest closed entry is, once `former` is full.
    oldest: u64,
    /// The digest of the transaction of the owner's last act, or of the last acceptance. Acts of members do not change it, so
    /// that no member can block the owner.
    last: vector<u8>,
    /// What `last` was before that transaction.
    before: vector<u8>,
}

/// `signing_key` is an Ed25519 public key, or empty for a member that only reads. It holds from generation `since`.
public struct Member has copy, drop, store {
    chain_address: address,
    signing_key: vector<u8>,
    since: u64,
    /// Milliseconds since 1970, or `NO_END`. From then on the member has no access.
    ends_at: u64,
    /// The last generation in which it held, once it is marked as ended; before that 0.
    until: u64,
    /// How often its signing key was replaced.
    replaced_keys: u8,
}

/// A closed entry: its key held from generation `since` to `until`, both included, at places before `ends_at`.
public struct Former has copy, drop, store {
    chain_address: address,
    signing_key: vector<u8>,
    since: u64,
    until: u64,
    ends_at: u64,
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
    ends_at: u64,
    generation: u64,
}

public struct EndSet has copy, drop {
    vault: ID,
    member: address,
    ends_at: u64,
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

/// A rotation has begun.
public struct Renewed has copy, drop {
    vault: ID,
    generation: u64,
}

public struct Swept has copy, drop {
    vault: ID,
    entries: u64,
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

/// Adds a member until `ends_at`, or for good with `NO_END`; by the owner. Everything ever written is open to it. One that
/// has ended is added anew, which raises the generation. A full list is swept first.
entry fun add(
    vault: &mut Vault,
    member: address,
    signing_key: vector<u8>,
    ends_at: u64,
    last: vector<u8>,
    clock: &Clock,
    ctx: &TxContext,
) {
    begin_giving(vault, &last, ctx);
    assert_signing_key(&signing_key);
    let now = clock.timestamp_ms();
    assert_end(ends_at, now);
    assert!(member != vault.owner.chain_address, EIsOwner);
    let at = find(&vault.members, member);
    if (at < vault.members.length()) {
        assert!(has_ended(&vault.members[at], now), EAlreadyMember);
        raise(vault, now);
        let entry = take(&mut vault.members, at);
        close(vault, entry);
    };
    if (vault.members.length() == MAX_MEMBERS) {
        raise(vault, now);
        assert!(move_marked(vault, MAX_SWEPT_BY_ADD) > 0, EMembersFull);
    };
    let since = vault.generation;
    vault.members.push_back(Member {
        chain_address: member,
        signing_key,
        since,
        ends_at,
        until: 0,
        replaced_keys: 0,
    });
    event::emit(MemberAdded { vault: object::uid_to_inner(&vault.id), member, ends_at, generation: since });
}

/// Sets a later end of a membership, `NO_END` for none; by the owner, and only while it has not ended.
entry fun extend(
    vault: &mut Vault,
    member: address,
    ends_at: u64,
    last: vector<u8>,
    clock: &Clock,
    ctx: &TxContext,
) {
    begin_giving(vault, &last, ctx);
    let now = clock.timestamp_ms();
    assert_end(ends_at, now);
    let at = find(&vault.members, member);
    assert!(at < vault.members.length(), ENotMember);
    assert!(!has_ended(&vault.members[at], now), EEnded);
    assert!(ends_at > vault.members[at].ends_at, EBadEnd);
    vault.members[at].ends_at = ends_at;
    event::emit(EndSet { vault: object::uid_to_inner(&vault.id), member, ends_at, generation: vault.generation });
}

/// Sets an earlier end of a membership; by the owner. It takes a right away and raises the generation. An end that is no
/// earlier than the one that stands changes nothing, nor does an end of who has ended already or is no member.
entry fun shorten(vault: &mut Vault, member: address, ends_at: u64, clock: &Clock, ctx: &TxContext) {
    begin_taking(vault, ctx);
    let now = clock.timestamp_ms();
    assert_end(ends_at, now);
    let at = find(&vault.members, member);
    if (at == vault.members.length() || has_ended(&vault.members[at], now)) return;
    if (ends_at >= vault.members[at].ends_at) return;
    raise(vault, now);
    vault.members[at].ends_at = ends_at;
    event::emit(EndSet { vault: object::uid_to_inner(&vault.id), member, ends_at, generation: vault.generation });
}

/// Removes a member, and withdraws an offer to it; by the owner.
entry fun remove(vault: &mut Vault, member: address, clock: &Clock, ctx: &TxContext) {
    begin_taking(vault, ctx);
    take_out(vault, member, clock, ctx);
}

/// Removes the sender. The owner hands the vault on instead.
entry fun leave(vault: &mut Vault, clock: &Clock, ctx: &TxContext) {
    assert!(ctx.sender() != vault.owner.chain_address, EIsOwner);
    assert!(take_out(vault, ctx.sender(), clock, ctx), ENotMember);
}

/// Sets the sender's own signing key in place of `replaces`. The first one takes no right away; replacing one closes the
/// entry it was in. The key that is set already changes nothing.
entry fun set_signing_key(
    vault: &mut Vault,
    signing_key: vector<u8>,
    replaces: vector<u8>,
    clock: &Clock,
    ctx: &TxContext,
) {
    assert_signing_key(&signing_key);
    let member = ctx.sender();
    let now = clock.timestamp_ms();
    let old = *entry_of(vault, member);
    assert!(!has_ended(&old, now), EEnded);
    if (old.signing_key == signing_key) return;
    assert!(old.signing_key == replaces, EOtherKey);
    let is_first = replaces.length() == 0;
    if (!is_first) {
        assert!(old.replaced_keys < MAX_REPLACED_KEYS, ETooManyKeys);
        close(vault, old);
        raise(vault, now);
    };
    let generation = vault.generation;
    let entry = entry_of(vault, member);
    entry.signing_key = signing_key;
    if (!is_first) {
        entry.since = generation;
        entry.replaced_keys = entry.replaced_keys + 1;
    };
    event::emit(SigningKeySet { vault: object::uid_to_inner(&vault.id), member, generation });
}

/// Begins a rotation: raises the generation, and no key of it or of a later one leads to an earlier one; by the owner.
entry fun renew(vault: &mut Vault, clock: &Clock, ctx: &TxContext) {
    begin_taking(vault, ctx);
    raise(vault, clock.timestamp_ms());
    vault.base = vault.generation;
    event::emit(Renewed { vault: object::uid_to_inner(&vault.id), generation: vault.generation });
}

/// Moves entries that are marked as ended to `former`, at most 50; by the owner or who is on the list.
entry fun sweep(vault: &mut Vault, ctx: &TxContext) {
    let sender = ctx.sender();
    assert!(
        sender == vault.owner.chain_address || find(&vault.members, sender) < vault.members.length(),
        ENotMember,
    );
    let entries = move_marked(vault, MAX_SWEPT);
    if (entries == 0) return;
    event::emit(Swept { vault: object::uid_to_inner(&vault.id), entries });
}

/// Offers the ownership to an address, in place of whom it was offered to; by the owner.
entry fun offer_ownership(vault: &mut Vault, to: address, last: vector<u8>, ctx: &TxContext) {
    begin_giving(vault, &last, ctx);
    let owner = vault.owner.chain_address;
    assert!(to != owner, EIsOwner);
    vault.offered = option::some(to);
    event::emit(OwnershipOffered { vault: object::uid_to_inner(&vault.id), owner, to });
}

/// Withdraws the offer that stands, if there is one; by the owner.
entry fun withdraw_offer(vault: &mut Vault, ctx: &TxContext) {
    begin_taking(vault, ctx);
    if (vault.offered == option::none()) return;
    vault.offered = option::none();
    let owner = vault.owner.chain_address;
    event::emit(OwnershipOffered { vault: object::uid_to_inner(&vault.id), owner, to: owner });
}

/// Makes the sender the owner, if it was offered to it, without an end. `replaces` is the key that it had as a member. The
/// old owner has no access afterwards.
entry fun accept_ownership(
    vault: &mut Vault,
    signing_key: vector<u8>,
    replaces: vector<u8>,
    clock: &Clock,
    ctx: &TxContext,
) {
    assert_signing_key(&signing_key);
    let to = ctx.sender();
    let now = clock.timestamp_ms();
    assert!(vault.offered == option::some(to), ENotOffered);
    note_act(vault, ctx);
    let from = vault.owner;
    close(vault, from);
    let at = find(&vault.members, to);
    if (at < vault.members.length()) {
        assert!(!has_ended(&vault.members[at], now), EEnded);
        assert!(vault.members[at].signing_key == replaces, EOtherKey);
        let entry = take(&mut vault.members, at);
        close(vault, entry);
    };
    raise(vault, now);
    vault.offered = option::none();
    vault.owner = new_owner(to, signing_key, vault.generation);
    event::emit(OwnershipAccepted {
        vault: object::uid_to_inner(&vault.id),
        from: from.chain_address,
        to,
        generation: vault.generation,
    });
}

/// Declares what was signed below a generation void, once nothing of it is left; by the owner.
entry fun raise_floor(vault: &mut Vault, floor: u64, ctx: &TxContext) {
    begin_taking(vault, ctx);
    assert!(floor <= vault.generation, EFloorAboveGeneration);
    assert!(floor >= vault.floor, EFloorLowered);
    if (floor == vault.floor) return;
    vault.floor = floor;
    event::emit(FloorRaised { vault: object::uid_to_inner(&vault.id), floor });
}

// === What Seal key servers ask ===

/// Aborts unless the sender may have the key of this identity. `at` is the sender's place in the list, where it is known:
/// only a wrong one costs a search.
entry fun seal_approve(id: vector<u8>, vault: &Vault, at: u64, clock: &Clock, ctx: &TxContext) {
    assert!(id.length() == IDENTITY_BYTES, EBadIdentity);
    let mut rest = id;
    drop_last(&mut rest, NONCE_BYTES);
    let after = take_u64(&mut rest);
    let generation = take_u64(&mut rest);
    assert!(rest == object::uid_to_bytes(&vault.id), EOtherVault);
    assert!(generation <= vault.generation, ELaterGeneration);
    assert!(after % END_STEP_MS == 0, EBadIdentity);
    let now = clock.timestamp_ms();
    assert!(after <= now, ELaterEnd);
    let sender = ctx.sender();
    if (sender == vault.owner.chain_address) return;
    let members = &vault.members;
    let found = if (at < members.length() && members[at].chain_address == sender) at else find(members, sender);
    assert!(found < members.length(), ENoAccess);
    assert!(!has_ended(&members[found], now), EEnded);
}

// === Inside ===

fun new(signing_key: vector<u8>, plain_names: bool, ctx: &mut TxContext): Vault {
    assert_signing_key(&signing_key);
    let owner = ctx.sender();
    let vault = Vault {
        id: object::new(ctx),
        generation: 1,
        floor: 1,
        base: 1,
        plain_names,
        owner: new_owner(owner, signing_key, 1),
        offered: option::none(),
        members: vector[],
        former: vector[],
        oldest: 0,
        last: *ctx.digest(),
        before: *ctx.digest(),
    };
    event::emit(VaultCreated { vault: object::uid_to_inner(&vault.id), owner, plain_names });
    vault
}

fun new_owner(chain_address: address, signing_key: vector<u8>, since: u64): Member {
    Member { chain_address, signing_key, since, ends_at: NO_END, until: 0, replaced_keys: 0 }
}

fun assert_owner(vault: &Vault, ctx: &TxContext) {
    assert!(ctx.sender() == vault.owner.chain_address, ENotOwner);
}

/// Begins an act that gives a right; by the owner. Only the act that the owner made last may be behind it: what was signed
/// before a later act is void. Later in a transaction that has acted already, that is the act before the transaction.
/// Were it the transaction itself, one that takes and then gives would pass whenever it is released.
fun begin_giving(vault: &mut Vault, last: &vector<u8>, ctx: &TxContext) {
    assert_owner(vault, ctx);
    let expected = if (&vault.last == ctx.digest()) &vault.before else &vault.last;
    assert!(last == expected, ENotLast);
    note_act(vault, ctx);
}

/// Begins an act that takes a right away; by the owner. It counts whether or not it finds something to take.
fun begin_taking(vault: &mut Vault, ctx: &TxContext) {
    assert_owner(vault, ctx);
    note_act(vault, ctx);
}

fun note_act(vault: &mut Vault, ctx: &TxContext) {
    if (&vault.last == ctx.digest()) return;
    vault.before = vault.last;
    vault.last = *ctx.digest();
}

fun assert_signing_key(key: &vector<u8>) {
    assert!(key.length() == 0 || key.length() == SIGNING_KEY_BYTES, EBadSigningKey);
}

fun assert_end(ends_at: u64, now: u64) {
    assert!(ends_at == NO_END || (ends_at % END_STEP_MS == 0 && ends_at > now), EBadEnd);
}

fun has_ended(member: &Member, now: u64): bool {
    member.until > 0 || member.ends_at <= now
}

/// Raises the generation. Who has ended is marked first: it held until the generation so far, and signs for none after it.
/// An offer is a right as well, and ends with the membership.
fun raise(vault: &mut Vault, now: u64) {
    let mut at = 0;
    while (at < vault.members.length()) {
        let member = &mut vault.members[at];
        if (member.until == 0 && member.ends_at <= now) {
            member.until = vault.generation;
            if (vault.offered == option::some(member.chain_address)) vault.offered = option::none();
        };
        at = at + 1;
    };
    vault.generation = vault.generation + 1;
}

/// Moves at most so many marked entries to `former`; answers how many. An offer that was made to one after its mark goes, too.
fun move_marked(vault: &mut Vault, most: u64): u64 {
    let mut at = 0;
    let mut moved = 0;
    while (at < vault.members.length() && moved < most) {
        if (vault.members[at].until > 0) {
            let entry = take(&mut vault.members, at);
            if (vault.offered == option::some(entry.chain_address)) vault.offered = option::none();
            close(vault, entry);
            moved = moved + 1;
        } else {
            at = at + 1;
        };
    };
    moved
}

/// Ends a membership, and an offer to the address with it. Answers whether there was a membership.
fun take_out(vault: &mut Vault, member: address, clock: &Clock, ctx: &TxContext): bool {
    if (vault.offered == option::some(member)) vault.offered = option::none();
    let at = find(&vault.members, member);
    if (at == vault.members.length()) return false;
    let entry = take(&mut vault.members, at);
    close(vault, entry);
    raise(vault, clock.timestamp_ms());
    event::emit(MemberRemoved {
        vault: object::uid_to_inner(&vault.id),
        member,
        by: ctx.sender(),
        generation: vault.generation,
    });
    true
}

/// Takes an entry out of the list; the last one moves to its place.
fun take(members: &mut vector<Member>, at: u64): Member {
    let last = members.length() - 1;
    members.swap(at, last);
    members.pop_back()
}

/// Keeps an entry as a former one, unless it never had a key: nothing can be verified by it. When there are too many, one of the oldest
/// gives way, so that a removal never fails: one below the floor, whose statements are void anyway, before any other.
fun close(vault: &mut Vault, entry: Member) {
    let Member { chain_address, signing_key, since, ends_at, until, replaced_keys: _ } = entry;
    if (signing_key.length() == 0) return;
    let until = if (until > 0) until else vault.generation;
    let former = Former { chain_address, signing_key, since, until, ends_at };
    if (vault.former.length() < MAX_FORMER) {
        vault.former.push_back(former);
        return
    };
    let oldest = vault.oldest;
    let mut ahead = 0;
    while (ahead < LOOK_AHEAD) {
        let at = (oldest + ahead) % MAX_FORMER;
        if (vault.former[at].until < vault.floor) {
            vault.former.swap(oldest, at);
            break
        };
        ahead = ahead + 1;
    };
    *&mut vault.former[oldest] = former;
    vault.oldest = (oldest + 1) % MAX_FORMER;
}

fun entry_of(vault: &mut Vault, member: address): &mut Member {
    if (member == vault.owner.chain_address) return &mut vault.owner;
    let at = find(&vault.members, member);
    assert!(at < vault.members.length(), ENotMember);
    &mut vault.members[at]
}

/// The member's place, or the number of members when it is none.
fun find(members: &vector<Member>, member: address): u64 {
    let count = members.length();
    let mut at = 0;
    while (at < count && &members[at].chain_address != &member) at = at + 1;
    at
}

fun drop_last(bytes: &mut vector<u8>, count: u64) {
    let mut left = count;
    while (left > 0) {
        bytes.pop_back();
        left = left - 1;
    };
}

/// Takes the last eight bytes, big endian like every integer of the file format.
fun take_u64(bytes: &mut vector<u8>): u64 {
    let mut value = 0;
    let mut shift: u8 = 0;
    while (shift < 64) {
        value = value | ((bytes.pop_back() as u64) << shift);
        shift = shift + 8;
    };
    value
}
