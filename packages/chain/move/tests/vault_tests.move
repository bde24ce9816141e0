#[test_only]
/// What each act does to the vault, who may not do it by each abort code, and what the key servers are told. One module: the
/// compiler takes one extension of a module.
extend module coffer::vault;

use std::unit_test::destroy;
use sui::tx_context::from_sender;

const OWNER: address = @0x0123;
const ANNA: address = @0xa;
const BEN: address = @0xb;
const EVE: address = @0xe;

fun key(byte: u8): vector<u8> {
    let mut bytes = vector[];
    while (bytes.length() < 32) bytes.push_back(byte);
    bytes
}

fun vault_of(owner: address): Vault {
    new(key(1), false, &mut from_sender(owner))
}

/// Owner OWNER, members ANNA with a key and BEN without one, generation 1.
fun vault_with_members(): Vault {
    let mut v = vault_of(OWNER);
    add(&mut v, ANNA, key(2), &from_sender(OWNER));
    add(&mut v, BEN, vector[], &from_sender(OWNER));
    v
}

fun former_is(v: &Vault, at: u64, member: address, signing_key: vector<u8>, since: u64, until: u64): bool {
    v.former[at] == Former { chain_address: member, signing_key, since, until }
}

#[test]
fun creates() {
    let mut ctx = from_sender(OWNER);
    create(key(1), true, &mut ctx);
    create(vector[], false, &mut ctx);
    let v = new(key(1), true, &mut ctx);
    assert!(v.generation == 1 && v.floor == 1 && v.plain_names);
    assert!(v.owner == Member { chain_address: OWNER, signing_key: key(1), since: 1 });
    assert!(v.offered == option::none() && v.members == vector[] && v.former == vector[]);
    destroy(v);
}

#[test]
fun adds() {
    let v = vault_with_members();
    assert!(v.generation == 1 && v.former == vector[]);
    assert!(v.members[0] == Member { chain_address: ANNA, signing_key: key(2), since: 1 });
    assert!(v.members[1] == Member { chain_address: BEN, signing_key: vector[], since: 1 });
    destroy(v);
}

#[test]
fun removes_and_adds_again() {
    let mut v = vault_with_members();
    remove(&mut v, ANNA, &from_sender(OWNER));
    assert!(v.generation == 2 && v.members.length() == 1 && v.members[0].chain_address == BEN);
    assert!(v.former.length() == 1 && former_is(&v, 0, ANNA, key(2), 1, 1));
    add(&mut v, ANNA, key(3), &from_sender(OWNER));
    assert!(v.members[1] == Member { chain_address: ANNA, signing_key: key(3), since: 2 });
    assert!(v.generation == 2 && v.former.length() == 1);
    destroy(v);
}

#[test]
fun leaves() {
    let mut v = vault_with_members();
    leave(&mut v, &from_sender(BEN));
    assert!(v.generation == 2 && v.members.length() == 1 && v.members[0].chain_address == ANNA);
    assert!(former_is(&v, 0, BEN, vector[], 1, 1));
    destroy(v);
}

#[test]
fun sets_a_first_key_in_place() {
    let mut v = vault_with_members();
    remove(&mut v, ANNA, &from_sender(OWNER));
    set_signing_key(&mut v, key(4), &from_sender(BEN));
    assert!(v.generation == 2 && v.former.length() == 1);
    assert!(v.members[0] == Member { chain_address: BEN, signing_key: key(4), since: 1 });
    destroy(v);
}

#[test]
fun replaces_a_key() {
    let mut v = vault_with_members();
    set_signing_key(&mut v, key(4), &from_sender(ANNA));
    assert!(v.generation == 2 && v.members.length() == 2);
    assert!(v.members[0] == Member { chain_address: ANNA, signing_key: key(4), since: 2 });
    assert!(former_is(&v, 0, ANNA, key(2), 1, 1));
    set_signing_key(&mut v, key(5), &from_sender(OWNER));
    assert!(v.generation == 3 && v.owner == Member { chain_address: OWNER, signing_key: key(5), since: 3 });
    assert!(former_is(&v, 1, OWNER, key(1), 1, 2));
    // Taken back: the entry is closed as well.
    set_signing_key(&mut v, vector[], &from_sender(ANNA));
    assert!(v.generation == 4 && v.members[0] == Member { chain_address: ANNA, signing_key: vector[], since: 4 });
    assert!(former_is(&v, 2, ANNA, key(4), 2, 3));
    destroy(v);
}

#[test]
fun keeps_an_equal_key() {
    let mut v = vault_with_members();
    set_signing_key(&mut v, key(2), &from_sender(ANNA));
    set_signing_key(&mut v, vector[], &from_sender(BEN));
    assert!(v.generation == 1 && v.former == vector[]);
    destroy(v);
}

#[test]
fun hands_over_to_a_member() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, ANNA, &from_sender(OWNER));
    assert!(v.offered == option::some(ANNA) && v.generation == 1);
    accept_ownership(&mut v, key(7), &from_sender(ANNA));
    assert!(v.generation == 2 && v.offered == option::none());
    assert!(v.owner == Member { chain_address: ANNA, signing_key: key(7), since: 2 });
    assert!(v.members.length() == 1 && v.members[0].chain_address == BEN);
    assert!(v.former.length() == 2 && former_is(&v, 0, OWNER, key(1), 1, 1) && former_is(&v, 1, ANNA, key(2), 1, 1));
    // The new owner acts as one.
    add(&mut v, OWNER, vector[], &from_sender(ANNA));
    destroy(v);
}

#[test]
fun hands_over_to_a_stranger() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, EVE, &from_sender(OWNER));
    accept_ownership(&mut v, vector[], &from_sender(EVE));
    assert!(v.owner == Member { chain_address: EVE, signing_key: vector[], since: 2 });
    assert!(v.members.length() == 2 && v.former.length() == 1);
    destroy(v);
}

#[test]
fun replaces_and_withdraws_an_offer() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, ANNA, &from_sender(OWNER));
    offer_ownership(&mut v, BEN, &from_sender(OWNER));
    assert!(v.offered == option::some(BEN));
    offer_ownership(&mut v, OWNER, &from_sender(OWNER));
    assert!(v.offered == option::none());
    destroy(v);
}

#[test]
fun ends_an_offer_with_the_membership() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, ANNA, &from_sender(OWNER));
    remove(&mut v, BEN, &from_sender(OWNER));
    assert!(v.offered == option::some(ANNA));
    remove(&mut v, ANNA, &from_sender(OWNER));
    assert!(v.offered == option::none());
    destroy(v);
}

#[test]
fun raises_the_floor() {
    let mut v = vault_with_members();
    remove(&mut v, ANNA, &from_sender(OWNER));
    remove(&mut v, BEN, &from_sender(OWNER));
    raise_floor(&mut v, 1, &from_sender(OWNER));
    assert!(v.floor == 1);
    raise_floor(&mut v, 3, &from_sender(OWNER));
    assert!(v.floor == 3 && v.generation == 3);
    destroy(v);
}

// === The largest vault ===

fun member_at(at: u64): Member {
    // Any address that no test names.
    Member { chain_address: address_at(at), signing_key: vector[], since: 1 }
}

fun address_at(at: u64): address {
    sui::tx_context::address_from(0x10000 + at)
}

fun fill_members(v: &mut Vault, count: u64) {
    while (v.members.length() < count) {
        let member = member_at(v.members.length());
        v.members.push_back(member);
    };
}

fun fill_former(v: &mut Vault, count: u64) {
    while (v.former.length() < count) {
        let at = v.former.length();
        v.former.push_back(Former { chain_address: address_at(at), signing_key: vector[], since: at, until: at });
    };
}

#[test]
fun holds_a_thousand_members() {
    let mut v = vault_of(OWNER);
    fill_members(&mut v, 999);
    add(&mut v, ANNA, vector[], &from_sender(OWNER));
    assert!(v.members.length() == 1000);
    leave(&mut v, &from_sender(address_at(998)));
    assert!(v.members.length() == 999 && v.members[998].chain_address == ANNA);
    destroy(v);
}

#[test]
fun the_oldest_former_entry_gives_way() {
    let mut v = vault_with_members();
    fill_former(&mut v, 1999);
    remove(&mut v, ANNA, &from_sender(OWNER));
    assert!(v.former.length() == 2000 && v.former[0].since == 0 && former_is(&v, 1999, ANNA, key(2), 1, 1));
    remove(&mut v, BEN, &from_sender(OWNER));
    assert!(v.former.length() == 2000 && v.former[0].since == 1 && v.former[1998].chain_address == ANNA);
    assert!(former_is(&v, 1999, BEN, vector[], 1, 2));
    offer_ownership(&mut v, EVE, &from_sender(OWNER));
    accept_ownership(&mut v, vector[], &from_sender(EVE));
    assert!(v.former.length() == 2000 && v.former[0].since == 2 && former_is(&v, 1999, OWNER, key(1), 1, 3));
    destroy(v);
}

// === What the key servers are told ===

fun identity(v: &Vault, generation: vector<u8>, nonce_length: u64): vector<u8> {
    let mut id = object::uid_to_bytes(&v.id);
    let mut at = 0u64;
    while (at < generation.length()) {
        id.push_back(generation[at]);
        at = at + 1;
    };
    while (id.length() < 40 + nonce_length) id.push_back(0xff);
    id
}

fun approve(sender: address, generation: vector<u8>, nonce_length: u64) {
    let v = vault_with_members();
    seal_approve(identity(&v, generation, nonce_length), &v, &from_sender(sender));
    destroy(v);
}

#[test]
fun approves_owner_and_members() {
    approve(OWNER, x"0000000000000001", 16);
    approve(ANNA, x"0000000000000001", 16);
    approve(BEN, x"0000000000000000", 16);
}

#[test]
fun approves_every_generation_so_far() {
    let mut v = vault_with_members();
    let mut ben = from_sender(BEN);
    v.generation = 0x0102030405060708;
    seal_approve(identity(&v, x"0102030405060708", 16), &v, &ben);
    seal_approve(identity(&v, x"0000000000000001", 16), &v, &ben);
    destroy(v);
    let v = new(vector[], false, &mut ben);
    seal_approve(identity(&v, x"0000000000000001", 16), &v, &ben);
    destroy(v);
}

#[test, expected_failure(abort_code = ENoAccess)]
fun refuses_a_stranger() {
    approve(EVE, x"0000000000000001", 16);
}

#[test, expected_failure(abort_code = ENoAccess)]
fun refuses_a_removed_member() {
    let mut v = vault_with_members();
    remove(&mut v, ANNA, &from_sender(OWNER));
    seal_approve(identity(&v, x"0000000000000001", 16), &v, &from_sender(ANNA));
    destroy(v);
}

#[test, expected_failure(abort_code = ENoAccess)]
fun refuses_the_old_owner() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, ANNA, &from_sender(OWNER));
    accept_ownership(&mut v, vector[], &from_sender(ANNA));
    seal_approve(identity(&v, x"0000000000000001", 16), &v, &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = ENoAccess)]
fun refuses_whom_the_vault_was_only_offered_to() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, EVE, &from_sender(OWNER));
    seal_approve(identity(&v, x"0000000000000001", 16), &v, &from_sender(EVE));
    destroy(v);
}

#[test, expected_failure(abort_code = ELaterGeneration)]
fun refuses_a_generation_to_come() {
    approve(OWNER, x"0000000000000002", 16);
}

#[test, expected_failure(abort_code = ELaterGeneration)]
fun reads_generations_big_endian() {
    approve(OWNER, x"0100000000000000", 16);
}

#[test, expected_failure(abort_code = ELaterGeneration)]
fun reads_the_largest_generation() {
    approve(OWNER, x"ffffffffffffffff", 16);
}

#[test, expected_failure(abort_code = EBadIdentity)]
fun refuses_a_longer_identity() {
    approve(OWNER, x"0000000000000001", 17);
}

#[test, expected_failure(abort_code = EBadIdentity)]
fun refuses_a_shorter_identity() {
    approve(OWNER, x"0000000000000001", 15);
}

#[test, expected_failure(abort_code = EBadIdentity)]
fun refuses_an_empty_identity() {
    let v = vault_with_members();
    seal_approve(vector[], &v, &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = EOtherVault)]
fun refuses_the_identity_of_another_vault() {
    let mut ctx = from_sender(OWNER);
    let (v, other) = (new(vector[], false, &mut ctx), new(vector[], false, &mut ctx));
    seal_approve(identity(&other, x"0000000000000001", 16), &v, &ctx);
    destroy(v);
    destroy(other);
}

// === Who is not the owner ===

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_add() {
    let mut v = vault_with_members();
    add(&mut v, EVE, vector[], &from_sender(ANNA));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_remove() {
    let mut v = vault_with_members();
    remove(&mut v, BEN, &from_sender(ANNA));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_offer() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, ANNA, &from_sender(ANNA));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_raise_the_floor() {
    let mut v = vault_with_members();
    raise_floor(&mut v, 1, &from_sender(ANNA));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun the_old_owner_cannot_add() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, ANNA, &from_sender(OWNER));
    accept_ownership(&mut v, vector[], &from_sender(ANNA));
    add(&mut v, EVE, vector[], &from_sender(OWNER));
    destroy(v);
}

// === Members ===

#[test, expected_failure(abort_code = EAlreadyMember)]
fun adds_nobody_twice() {
    let mut v = vault_with_members();
    add(&mut v, ANNA, key(3), &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = EIsOwner)]
fun the_owner_is_no_member() {
    let mut v = vault_with_members();
    add(&mut v, OWNER, vector[], &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = EMembersFull)]
fun holds_no_more_than_a_thousand() {
    let mut v = vault_of(OWNER);
    fill_members(&mut v, 1000);
    add(&mut v, ANNA, vector[], &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotMember)]
fun removes_no_stranger() {
    let mut v = vault_with_members();
    remove(&mut v, EVE, &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotMember)]
fun does_not_remove_the_owner() {
    let mut v = vault_with_members();
    remove(&mut v, OWNER, &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotMember)]
fun a_stranger_cannot_leave() {
    let mut v = vault_with_members();
    leave(&mut v, &from_sender(EVE));
    destroy(v);
}

#[test, expected_failure(abort_code = EIsOwner)]
fun the_owner_cannot_leave() {
    let mut v = vault_with_members();
    leave(&mut v, &from_sender(OWNER));
    destroy(v);
}

// === Signing keys ===

#[test, expected_failure(abort_code = EBadSigningKey)]
fun creates_with_no_short_key() {
    create(x"01", false, &mut from_sender(OWNER));
}

#[test, expected_failure(abort_code = EBadSigningKey)]
fun adds_with_no_long_key() {
    let mut v = vault_of(OWNER);
    let mut long = key(1);
    long.push_back(1);
    add(&mut v, ANNA, long, &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = EBadSigningKey)]
fun sets_no_short_key() {
    let mut v = vault_of(OWNER);
    set_signing_key(&mut v, x"0102", &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = EBadSigningKey)]
fun accepts_with_no_short_key() {
    let mut v = vault_of(OWNER);
    offer_ownership(&mut v, EVE, &from_sender(OWNER));
    accept_ownership(&mut v, x"01", &from_sender(EVE));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotMember)]
fun a_stranger_sets_no_key() {
    let mut v = vault_with_members();
    set_signing_key(&mut v, key(9), &from_sender(EVE));
    destroy(v);
}

fun replace_often(v: &mut Vault, member: address, times: u8) {
    let mut at = 0;
    while (at < times) {
        set_signing_key(v, key(100 + at), &from_sender(member));
        at = at + 1;
    };
}

#[test]
fun replaces_sixteen_keys() {
    let mut v = vault_with_members();
    replace_often(&mut v, ANNA, 16);
    replace_often(&mut v, OWNER, 16);
    assert!(v.former.length() == 32 && v.generation == 33);
    // A removal is never held up by it.
    remove(&mut v, ANNA, &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = ETooManyKeys)]
fun replaces_no_seventeenth_key() {
    let mut v = vault_with_members();
    replace_often(&mut v, ANNA, 17);
    destroy(v);
}

// === Ownership and floor ===

#[test, expected_failure(abort_code = ENotOffered)]
fun accepts_nothing_that_was_not_offered() {
    let mut v = vault_with_members();
    accept_ownership(&mut v, vector[], &from_sender(ANNA));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOffered)]
fun accepts_no_offer_to_another() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, ANNA, &from_sender(OWNER));
    accept_ownership(&mut v, vector[], &from_sender(BEN));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOffered)]
fun accepts_no_withdrawn_offer() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, ANNA, &from_sender(OWNER));
    offer_ownership(&mut v, OWNER, &from_sender(OWNER));
    accept_ownership(&mut v, vector[], &from_sender(ANNA));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOffered)]
fun accepts_no_offer_twice() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, ANNA, &from_sender(OWNER));
    accept_ownership(&mut v, vector[], &from_sender(ANNA));
    accept_ownership(&mut v, vector[], &from_sender(ANNA));
    destroy(v);
}

#[test, expected_failure(abort_code = EFloorAboveGeneration)]
fun raises_no_floor_above_the_generation() {
    let mut v = vault_of(OWNER);
    raise_floor(&mut v, 2, &from_sender(OWNER));
    destroy(v);
}

#[test, expected_failure(abort_code = EFloorLowered)]
fun lowers_no_floor() {
    let mut v = vault_with_members();
    remove(&mut v, ANNA, &from_sender(OWNER));
    raise_floor(&mut v, 2, &from_sender(OWNER));
    raise_floor(&mut v, 1, &from_sender(OWNER));
    destroy(v);
}
