#[test_only]
/// What each act does to the vault, who may not do it by each abort code, and what the key servers are told. One module: the
/// compiler takes one extension of a module.
extend module coffer::vault;

use std::unit_test::destroy;
use sui::clock;
use sui::tx_context::{digest_of, from_sender, from_transaction};

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
    add_for_good(&mut v, ANNA, key(2), OWNER);
    add_for_good(&mut v, BEN, vector[], OWNER);
    v
}

fun former_is(v: &Vault, at: u64, member: address, signing_key: vector<u8>, since: u64, until: u64): bool {
    v.former[at] == Former { chain_address: member, signing_key, since, until, ends_at: NO_END }
}

/// An open entry without an end.
fun is_entry(member: &Member, chain_address: address, signing_key: vector<u8>, since: u64): bool {
    member.chain_address == chain_address && member.signing_key == signing_key && member.since == since &&
        member.ends_at == NO_END && member.until == 0
}

// === Acts at a time, in milliseconds ===

fun clock_at(now: u64): Clock {
    let mut clock = clock::create_for_testing(&mut from_sender(OWNER));
    clock.set_for_testing(now);
    clock
}

fun add_at(v: &mut Vault, member: address, signing_key: vector<u8>, ends_at: u64, now: u64, sender: address) {
    let clock = clock_at(now);
    add(v, member, signing_key, ends_at, digest_of(0), &clock, &from_sender(sender));
    destroy(clock);
}

fun add_for_good(v: &mut Vault, member: address, signing_key: vector<u8>, sender: address) {
    add_at(v, member, signing_key, NO_END, 0, sender);
}

fun extend_at(v: &mut Vault, member: address, ends_at: u64, now: u64, sender: address) {
    let clock = clock_at(now);
    extend(v, member, ends_at, digest_of(0), &clock, &from_sender(sender));
    destroy(clock);
}

fun shorten_at(v: &mut Vault, member: address, ends_at: u64, now: u64, sender: address) {
    let clock = clock_at(now);
    shorten(v, member, ends_at, &clock, &from_sender(sender));
    destroy(clock);
}

fun offer(v: &mut Vault, to: address, sender: address) {
    offer_ownership(v, to, digest_of(0), &from_sender(sender));
}

fun withdraw(v: &mut Vault, sender: address) {
    withdraw_offer(v, &from_sender(sender));
}

fun remove_at(v: &mut Vault, member: address, now: u64, sender: address) {
    let clock = clock_at(now);
    remove(v, member, &clock, &from_sender(sender));
    destroy(clock);
}

fun leave_at(v: &mut Vault, now: u64, sender: address) {
    let clock = clock_at(now);
    leave(v, &clock, &from_sender(sender));
    destroy(clock);
}

fun set_key_at(v: &mut Vault, signing_key: vector<u8>, now: u64, sender: address) {
    let clock = clock_at(now);
    let replaces = entry_of(v, sender).signing_key;
    set_signing_key(v, signing_key, replaces, &clock, &from_sender(sender));
    destroy(clock);
}

fun accept_at(v: &mut Vault, signing_key: vector<u8>, now: u64, sender: address) {
    let clock = clock_at(now);
    let at = find(&v.members, sender);
    let replaces = if (at < v.members.length()) v.members[at].signing_key else vector[];
    accept_ownership(v, signing_key, replaces, &clock, &from_sender(sender));
    destroy(clock);
}

fun renew_at(v: &mut Vault, now: u64, sender: address) {
    let clock = clock_at(now);
    renew(v, &clock, &from_sender(sender));
    destroy(clock);
}

/// `at` is the hint, `now` the time.
fun approve_at(id: vector<u8>, v: &Vault, at: u64, now: u64, sender: address) {
    let clock = clock_at(now);
    seal_approve(id, v, at, &clock, &from_sender(sender));
    destroy(clock);
}

#[test]
fun creates() {
    let mut ctx = from_sender(OWNER);
    create(key(1), true, &mut ctx);
    create(vector[], false, &mut ctx);
    let v = new(key(1), true, &mut ctx);
    assert!(v.generation == 1 && v.floor == 1 && v.plain_names);
    assert!(is_entry(&v.owner, OWNER, key(1), 1));
    assert!(v.offered == option::none() && v.members == vector[] && v.former == vector[]);
    destroy(v);
}

#[test]
fun adds() {
    let v = vault_with_members();
    assert!(v.generation == 1 && v.former == vector[]);
    assert!(is_entry(&v.members[0], ANNA, key(2), 1));
    assert!(is_entry(&v.members[1], BEN, vector[], 1));
    destroy(v);
}

#[test]
fun removes_and_adds_again() {
    let mut v = vault_with_members();
    remove_at(&mut v, ANNA, 0, OWNER);
    assert!(v.generation == 2 && v.members.length() == 1 && v.members[0].chain_address == BEN);
    assert!(v.former.length() == 1 && former_is(&v, 0, ANNA, key(2), 1, 1));
    add_for_good(&mut v, ANNA, key(3), OWNER);
    assert!(is_entry(&v.members[1], ANNA, key(3), 2));
    assert!(v.generation == 2 && v.former.length() == 1);
    destroy(v);
}

#[test]
fun leaves() {
    let mut v = vault_with_members();
    leave_at(&mut v, 0, BEN);
    assert!(v.generation == 2 && v.members.length() == 1 && v.members[0].chain_address == ANNA);
    assert!(v.former == vector[]);
    destroy(v);
}

#[test]
fun sets_a_first_key_in_place() {
    let mut v = vault_with_members();
    remove_at(&mut v, ANNA, 0, OWNER);
    set_key_at(&mut v, key(4), 0, BEN);
    assert!(v.generation == 2 && v.former.length() == 1);
    assert!(is_entry(&v.members[0], BEN, key(4), 1) && v.members[0].replaced_keys == 0);
    destroy(v);
}

#[test]
fun replaces_a_key() {
    let mut v = vault_with_members();
    set_key_at(&mut v, key(4), 0, ANNA);
    assert!(v.generation == 2 && v.members.length() == 2);
    assert!(is_entry(&v.members[0], ANNA, key(4), 2));
    assert!(former_is(&v, 0, ANNA, key(2), 1, 1));
    set_key_at(&mut v, key(5), 0, OWNER);
    assert!(v.generation == 3 && is_entry(&v.owner, OWNER, key(5), 3));
    assert!(former_is(&v, 1, OWNER, key(1), 1, 2));
    // Taken back: the entry is closed as well.
    set_key_at(&mut v, vector[], 0, ANNA);
    assert!(v.generation == 4 && is_entry(&v.members[0], ANNA, vector[], 4));
    assert!(former_is(&v, 2, ANNA, key(4), 2, 3));
    destroy(v);
}

#[test]
fun keeps_an_equal_key() {
    let mut v = vault_with_members();
    set_key_at(&mut v, key(2), 0, ANNA);
    set_key_at(&mut v, vector[], 0, BEN);
    assert!(v.generation == 1 && v.former == vector[]);
    destroy(v);
}

#[test]
fun hands_over_to_a_member() {
    let mut v = vault_with_members();
    offer(&mut v, ANNA, OWNER);
    assert!(v.offered == option::some(ANNA) && v.generation == 1);
    accept_at(&mut v, key(7), 0, ANNA);
    assert!(v.generation == 2 && v.offered == option::none());
    assert!(is_entry(&v.owner, ANNA, key(7), 2));
    assert!(v.members.length() == 1 && v.members[0].chain_address == BEN);
    assert!(v.former.length() == 2 && former_is(&v, 0, OWNER, key(1), 1, 1) && former_is(&v, 1, ANNA, key(2), 1, 1));
    // The new owner acts as one.
    add_for_good(&mut v, OWNER, vector[], ANNA);
    destroy(v);
}

#[test]
fun hands_over_to_a_stranger() {
    let mut v = vault_with_members();
    offer(&mut v, EVE, OWNER);
    accept_at(&mut v, vector[], 0, EVE);
    assert!(is_entry(&v.owner, EVE, vector[], 2));
    assert!(v.members.length() == 2 && v.former.length() == 1);
    destroy(v);
}

#[test]
fun replaces_and_withdraws_an_offer() {
    let mut v = vault_with_members();
    offer(&mut v, ANNA, OWNER);
    offer(&mut v, BEN, OWNER);
    assert!(v.offered == option::some(BEN));
    withdraw(&mut v, OWNER);
    assert!(v.offered == option::none());
    destroy(v);
}

#[test]
fun ends_an_offer_with_the_membership() {
    let mut v = vault_with_members();
    offer(&mut v, ANNA, OWNER);
    remove_at(&mut v, BEN, 0, OWNER);
    assert!(v.offered == option::some(ANNA));
    remove_at(&mut v, ANNA, 0, OWNER);
    assert!(v.offered == option::none());
    destroy(v);
}

#[test]
fun raises_the_floor() {
    let mut v = vault_with_members();
    remove_at(&mut v, ANNA, 0, OWNER);
    remove_at(&mut v, BEN, 0, OWNER);
    raise_floor(&mut v, 1, &from_sender(OWNER));
    assert!(v.floor == 1);
    raise_floor(&mut v, 3, &from_sender(OWNER));
    assert!(v.floor == 3 && v.generation == 3);
    destroy(v);
}

// === The largest vault ===

fun member_at(at: u64): Member {
    // Any address that no test names.
    Member { chain_address: address_at(at), signing_key: vector[], since: 1, ends_at: NO_END, until: 0, replaced_keys: 0 }
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
        v.former.push_back(Former { chain_address: address_at(at), signing_key: key(8), since: at, until: at, ends_at: NO_END });
    };
}

#[test]
fun holds_a_thousand_members() {
    let mut v = vault_of(OWNER);
    fill_members(&mut v, 999);
    add_for_good(&mut v, ANNA, vector[], OWNER);
    assert!(v.members.length() == 1000);
    leave_at(&mut v, 0, address_at(998));
    assert!(v.members.length() == 999 && v.members[998].chain_address == ANNA);
    destroy(v);
}

#[test]
fun the_oldest_former_entry_gives_way() {
    let mut v = vault_with_members();
    fill_former(&mut v, 1799);
    remove_at(&mut v, ANNA, 0, OWNER);
    assert!(v.former.length() == 1800 && v.former[0].since == 0 && former_is(&v, 1799, ANNA, key(2), 1, 1));
    assert!(v.oldest == 0);
    // One without a key is not kept.
    remove_at(&mut v, BEN, 0, OWNER);
    assert!(v.former[0].since == 0 && v.oldest == 0);
    // The first one is below the floor, like those behind it.
    offer(&mut v, EVE, OWNER);
    accept_at(&mut v, key(7), 0, EVE);
    assert!(v.former.length() == 1800 && former_is(&v, 0, OWNER, key(1), 1, 3) && v.former[1].since == 1);
    assert!(v.oldest == 1);
    v.oldest = 1799;
    set_key_at(&mut v, key(9), 0, EVE);
    assert!(former_is(&v, 1799, EVE, key(7), 4, 4) && v.oldest == 0);
    destroy(v);
}

#[test]
fun an_entry_below_the_floor_gives_way_first() {
    let mut v = vault_with_members();
    fill_former(&mut v, 1800);
    v.generation = 2000;
    v.floor = 1900;
    let mut at = 0;
    while (at < 1800) {
        v.former[at].until = 1950;
        at = at + 1;
    };
    // The last that is looked at, and one behind it.
    v.former[63].until = 1899;
    v.former[64].until = 1899;
    remove_at(&mut v, ANNA, 0, OWNER);
    // The oldest moved to where that one was, and the new one is the newest of the ring.
    assert!(v.former[0].chain_address == ANNA && v.former[63].since == 0 && v.former[64].since == 64);
    assert!(v.oldest == 1);
    destroy(v);
}

#[test]
fun the_largest_vault_fits_into_an_object() {
    let mut v = vault_of(OWNER);
    fill_members(&mut v, 1000);
    let mut at = 0;
    while (at < 1000) {
        v.members[at].signing_key = key(3);
        at = at + 1;
    };
    fill_former(&mut v, 1800);
    v.offered = option::some(ANNA);
    // An object may have 256,000 bytes.
    assert!(std::bcs::to_bytes(&v).length() < 251_000);
    destroy(v);
}

// === Ends ===

const QUARTER: u64 = 900_000;

/// ANNA ends after one quarter of an hour, BEN after two; both sign.
fun vault_with_ends(): Vault {
    let mut v = vault_of(OWNER);
    add_at(&mut v, ANNA, key(2), QUARTER, 0, OWNER);
    add_at(&mut v, BEN, key(3), 2 * QUARTER, 0, OWNER);
    v
}

#[test]
fun adds_until() {
    let v = vault_with_ends();
    assert!(v.generation == 1 && v.members[0].ends_at == QUARTER && v.members[1].ends_at == 2 * QUARTER);
    assert!(v.members[0].until == 0 && v.owner.ends_at == NO_END);
    destroy(v);
}

#[test, expected_failure(abort_code = EBadEnd)]
fun ends_on_quarters_of_an_hour() {
    let mut v = vault_of(OWNER);
    add_at(&mut v, ANNA, key(2), QUARTER + 1, 0, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EBadEnd)]
fun ends_later_than_now() {
    let mut v = vault_of(OWNER);
    add_at(&mut v, ANNA, key(2), QUARTER, QUARTER, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EBadEnd)]
fun is_shortened_to_no_passed_end() {
    let mut v = vault_with_ends();
    shorten_at(&mut v, BEN, QUARTER, QUARTER, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EBadEnd)]
fun is_shortened_to_quarters_of_an_hour() {
    let mut v = vault_with_ends();
    shorten_at(&mut v, BEN, QUARTER + 1, 0, OWNER);
    destroy(v);
}

#[test]
fun extends_without_a_new_generation() {
    let mut v = vault_with_ends();
    extend_at(&mut v, ANNA, 3 * QUARTER, QUARTER - 1, OWNER);
    extend_at(&mut v, BEN, NO_END, QUARTER - 1, OWNER);
    assert!(v.generation == 1 && v.members[0].ends_at == 3 * QUARTER && v.members[1].ends_at == NO_END);
    destroy(v);
}

#[test]
fun shortening_takes_a_right_away() {
    let mut v = vault_with_ends();
    shorten_at(&mut v, BEN, QUARTER, 0, OWNER);
    assert!(v.generation == 2 && v.members[1].ends_at == QUARTER && v.members[1].since == 1);
    // Who has ended by then is marked with the generation before.
    add_at(&mut v, EVE, key(4), 9 * QUARTER, QUARTER, OWNER);
    assert!(v.generation == 2);
    shorten_at(&mut v, EVE, 8 * QUARTER, QUARTER, OWNER);
    assert!(v.generation == 3 && v.members[0].until == 2 && v.members[1].until == 2 && v.members[2].until == 0);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_extend() {
    let mut v = vault_with_ends();
    extend_at(&mut v, ANNA, NO_END, 0, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_shorten() {
    let mut v = vault_with_ends();
    shorten_at(&mut v, BEN, QUARTER, 0, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_withdraw_an_offer() {
    let mut v = vault_with_members();
    withdraw(&mut v, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = EBadEnd)]
fun extends_to_no_earlier_end() {
    let mut v = vault_with_ends();
    extend_at(&mut v, BEN, QUARTER, 0, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EBadEnd)]
fun extends_to_no_equal_end() {
    let mut v = vault_with_ends();
    extend_at(&mut v, BEN, 2 * QUARTER, 0, OWNER);
    destroy(v);
}

#[test]
fun shortens_to_no_later_end() {
    let mut v = vault_with_ends();
    shorten_at(&mut v, ANNA, 2 * QUARTER, 0, OWNER);
    shorten_at(&mut v, ANNA, QUARTER, 0, OWNER);
    shorten_at(&mut v, BEN, NO_END, 0, OWNER);
    assert!(v.generation == 1 && v.members[0].ends_at == QUARTER && v.members[1].ends_at == 2 * QUARTER);
    // Nor the end of who has ended, by the clock or by a mark.
    shorten_at(&mut v, ANNA, 2 * QUARTER, QUARTER, OWNER);
    renew_at(&mut v, QUARTER, OWNER);
    shorten_at(&mut v, ANNA, QUARTER, 0, OWNER);
    shorten_at(&mut v, EVE, QUARTER, 0, OWNER);
    assert!(v.generation == 2 && v.members[0].ends_at == QUARTER && v.members.length() == 2);
    renew_at(&mut v, 2 * QUARTER, OWNER);
    shorten_at(&mut v, BEN, QUARTER, 0, OWNER);
    assert!(v.generation == 3 && v.members[1].ends_at == 2 * QUARTER);
    destroy(v);
}

#[test, expected_failure(abort_code = EEnded)]
fun an_ended_one_is_not_extended() {
    let mut v = vault_with_ends();
    extend_at(&mut v, ANNA, NO_END, QUARTER, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EEnded)]
fun a_marked_one_is_not_extended_by_a_node_with_an_old_clock() {
    let mut v = vault_with_ends();
    renew_at(&mut v, QUARTER, OWNER);
    extend_at(&mut v, ANNA, NO_END, 0, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotMember)]
fun the_owner_has_no_end() {
    let mut v = vault_with_ends();
    extend_at(&mut v, OWNER, QUARTER, 0, OWNER);
    destroy(v);
}

#[test]
fun each_act_that_raises_the_generation_marks() {
    let mut v = vault_with_ends();
    remove_at(&mut v, BEN, QUARTER, OWNER);
    assert!(v.generation == 2 && v.members[0].until == 1);
    destroy(v);
    let mut v = vault_with_ends();
    leave_at(&mut v, QUARTER, BEN);
    assert!(v.generation == 2 && v.members[0].until == 1);
    destroy(v);
    let mut v = vault_with_ends();
    set_key_at(&mut v, key(9), QUARTER, BEN);
    assert!(v.generation == 2 && v.members[0].until == 1 && v.members[1].until == 0);
    destroy(v);
    let mut v = vault_with_ends();
    offer(&mut v, EVE, OWNER);
    accept_at(&mut v, key(9), QUARTER, EVE);
    assert!(v.generation == 2 && v.members[0].until == 1 && v.owner.ends_at == NO_END);
    destroy(v);
    let mut v = vault_with_ends();
    renew_at(&mut v, QUARTER, OWNER);
    assert!(v.generation == 2 && v.base == 2 && v.members[0].until == 1 && v.members[1].until == 0);
    // A mark stays as it is.
    renew_at(&mut v, 2 * QUARTER, OWNER);
    assert!(v.generation == 3 && v.base == 3 && v.members[0].until == 1 && v.members[1].until == 2);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_renew() {
    let mut v = vault_with_ends();
    renew_at(&mut v, 0, ANNA);
    destroy(v);
}

#[test]
fun an_ended_one_is_added_anew() {
    let mut v = vault_with_ends();
    add_at(&mut v, ANNA, key(5), 4 * QUARTER, QUARTER, OWNER);
    assert!(v.generation == 2 && v.members.length() == 2 && v.former.length() == 1);
    assert!(v.former[0] == Former { chain_address: ANNA, signing_key: key(2), since: 1, until: 1, ends_at: QUARTER });
    assert!(v.members[1].chain_address == ANNA && v.members[1].since == 2 && v.members[1].ends_at == 4 * QUARTER);
    // One that was marked before keeps its mark.
    renew_at(&mut v, 2 * QUARTER, OWNER);
    renew_at(&mut v, 2 * QUARTER, OWNER);
    add_at(&mut v, BEN, key(6), NO_END, 2 * QUARTER, OWNER);
    assert!(v.generation == 5 && v.former[1].until == 2 && v.former[1].chain_address == BEN);
    destroy(v);
}

#[test]
fun sweeps_what_is_marked() {
    let mut v = vault_with_ends();
    sweep(&mut v, &from_sender(OWNER));
    renew_at(&mut v, QUARTER, OWNER);
    sweep(&mut v, &from_sender(BEN));
    assert!(v.generation == 2 && v.members.length() == 1 && v.members[0].chain_address == BEN);
    assert!(v.former == vector[Former { chain_address: ANNA, signing_key: key(2), since: 1, until: 1, ends_at: QUARTER }]);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotMember)]
fun a_stranger_sweeps_nothing() {
    let mut v = vault_with_ends();
    sweep(&mut v, &from_sender(EVE));
    destroy(v);
}

#[test]
fun sweeps_fifty_at_once_and_five_of_a_full_list_by_itself() {
    let mut v = vault_of(OWNER);
    fill_members(&mut v, 1000);
    let mut at = 0;
    while (at < 60) {
        v.members[at].ends_at = QUARTER;
        at = at + 1;
    };
    add_at(&mut v, ANNA, key(2), NO_END, QUARTER, OWNER);
    assert!(v.generation == 2 && v.members.length() == 996 && v.members[995].chain_address == ANNA);
    assert!(v.members[995].since == 2);
    sweep(&mut v, &from_sender(OWNER));
    assert!(v.members.length() == 946);
    sweep(&mut v, &from_sender(OWNER));
    assert!(v.members.length() == 941);
    destroy(v);
}

#[test, expected_failure(abort_code = EEnded)]
fun an_ended_one_sets_no_key() {
    let mut v = vault_with_ends();
    set_key_at(&mut v, key(9), QUARTER, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = EEnded)]
fun a_marked_one_sets_no_key() {
    let mut v = vault_with_ends();
    renew_at(&mut v, QUARTER, OWNER);
    set_key_at(&mut v, key(9), 0, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = EEnded)]
fun an_ended_one_accepts_nothing() {
    let mut v = vault_with_ends();
    offer(&mut v, ANNA, OWNER);
    accept_at(&mut v, key(9), QUARTER, ANNA);
    destroy(v);
}

#[test]
fun a_mark_withdraws_an_offer() {
    let mut v = vault_with_ends();
    offer(&mut v, BEN, OWNER);
    renew_at(&mut v, QUARTER, OWNER);
    assert!(v.offered == option::some(BEN));
    renew_at(&mut v, 2 * QUARTER, OWNER);
    assert!(v.offered == option::none());
    // One that is made afterwards does not outlive the entry.
    offer(&mut v, ANNA, OWNER);
    sweep(&mut v, &from_sender(OWNER));
    assert!(v.offered == option::none() && v.members == vector[]);
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
    // No end has passed.
    while (id.length() < 48) id.push_back(0);
    while (id.length() < 48 + nonce_length) id.push_back(0xff);
    id
}

/// Generation 1, after an end: its last four bytes.
fun identity_after(v: &Vault, after: vector<u8>): vector<u8> {
    let mut id = identity(v, x"0000000000000001", 16);
    let mut at = 0;
    while (at < 4) {
        *&mut id[44 + at] = after[at];
        at = at + 1;
    };
    id
}

fun approve_after(after: vector<u8>, at: u64, now: u64, sender: address) {
    let v = vault_with_ends();
    approve_at(identity_after(&v, after), &v, at, now, sender);
    destroy(v);
}

#[test]
fun approves_until_the_end() {
    approve_after(x"00000000", 0, QUARTER - 1, ANNA);
    // 900,000: ANNA's end.
    approve_after(x"000dbba0", 1, QUARTER, BEN);
    approve_after(x"000dbba0", 0, 2 * QUARTER - 1, BEN);
    approve_after(x"000dbba0", 0, QUARTER, OWNER);
}

#[test]
fun finds_a_member_whatever_the_hint() {
    approve_after(x"00000000", 0, 0, BEN);
    approve_after(x"00000000", 1, 0, ANNA);
    approve_after(x"00000000", 2, 0, BEN);
    approve_after(x"00000000", NO_END, 0, BEN);
}

#[test, expected_failure(abort_code = ENoAccess)]
fun a_hint_makes_nobody_a_member() {
    approve_after(x"00000000", 0, 0, EVE);
}

#[test, expected_failure(abort_code = EEnded)]
fun refuses_an_ended_member() {
    approve_after(x"00000000", 0, QUARTER, ANNA);
}

#[test, expected_failure(abort_code = EEnded)]
fun refuses_an_ended_member_the_place_after_its_end() {
    approve_after(x"000dbba0", 0, QUARTER, ANNA);
}

#[test, expected_failure(abort_code = EEnded)]
fun refuses_a_marked_member_by_a_clock_that_is_late() {
    let mut v = vault_with_ends();
    renew_at(&mut v, QUARTER, OWNER);
    approve_at(identity(&v, x"0000000000000001", 16), &v, 0, 0, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = ELaterEnd)]
fun refuses_an_end_to_come() {
    approve_after(x"000dbba0", 1, QUARTER - 1, BEN);
}

#[test, expected_failure(abort_code = EBadIdentity)]
fun refuses_a_place_between_two_quarters() {
    approve_after(x"000dbba1", 1, 2 * QUARTER - 1, BEN);
}

fun approve(sender: address, generation: vector<u8>, nonce_length: u64) {
    let v = vault_with_members();
    approve_at(identity(&v, generation, nonce_length), &v, 0, 0, sender);
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
    v.generation = 0x0102030405060708;
    approve_at(identity(&v, x"0102030405060708", 16), &v, 0, 0, BEN);
    approve_at(identity(&v, x"0000000000000001", 16), &v, 0, 0, BEN);
    destroy(v);
    let v = vault_of(BEN);
    approve_at(identity(&v, x"0000000000000001", 16), &v, 0, 0, BEN);
    destroy(v);
}

#[test, expected_failure(abort_code = ENoAccess)]
fun refuses_a_stranger() {
    approve(EVE, x"0000000000000001", 16);
}

#[test, expected_failure(abort_code = ENoAccess)]
fun refuses_a_removed_member() {
    let mut v = vault_with_members();
    remove_at(&mut v, ANNA, 0, OWNER);
    approve_at(identity(&v, x"0000000000000001", 16), &v, 0, 0, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = ENoAccess)]
fun refuses_the_old_owner() {
    let mut v = vault_with_members();
    offer(&mut v, ANNA, OWNER);
    accept_at(&mut v, vector[], 0, ANNA);
    approve_at(identity(&v, x"0000000000000001", 16), &v, 0, 0, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = ENoAccess)]
fun refuses_whom_the_vault_was_only_offered_to() {
    let mut v = vault_with_members();
    offer(&mut v, EVE, OWNER);
    approve_at(identity(&v, x"0000000000000001", 16), &v, 0, 0, EVE);
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
    approve_at(vector[], &v, 0, 0, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EOtherVault)]
fun refuses_the_identity_of_another_vault() {
    let mut ctx = from_sender(OWNER);
    let (v, other) = (new(vector[], false, &mut ctx), new(vector[], false, &mut ctx));
    approve_at(identity(&other, x"0000000000000001", 16), &v, 0, 0, OWNER);
    destroy(v);
    destroy(other);
}

// === Who is not the owner ===

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_add() {
    let mut v = vault_with_members();
    add_for_good(&mut v, EVE, vector[], ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_remove() {
    let mut v = vault_with_members();
    remove_at(&mut v, BEN, 0, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOwner)]
fun a_member_cannot_offer() {
    let mut v = vault_with_members();
    offer(&mut v, ANNA, ANNA);
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
    offer(&mut v, ANNA, OWNER);
    accept_at(&mut v, vector[], 0, ANNA);
    add_for_good(&mut v, EVE, vector[], OWNER);
    destroy(v);
}

// === Members ===

#[test, expected_failure(abort_code = EAlreadyMember)]
fun adds_nobody_twice() {
    let mut v = vault_with_members();
    add_for_good(&mut v, ANNA, key(3), OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EIsOwner)]
fun the_owner_is_no_member() {
    let mut v = vault_with_members();
    add_for_good(&mut v, OWNER, vector[], OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EMembersFull)]
fun holds_no_more_than_a_thousand() {
    let mut v = vault_of(OWNER);
    fill_members(&mut v, 1000);
    add_for_good(&mut v, ANNA, vector[], OWNER);
    destroy(v);
}

#[test]
fun removes_neither_a_stranger_nor_the_owner() {
    let mut v = vault_with_members();
    remove_at(&mut v, EVE, 0, OWNER);
    remove_at(&mut v, OWNER, 0, OWNER);
    assert!(v.generation == 1 && v.members.length() == 2 && is_entry(&v.owner, OWNER, key(1), 1));
    destroy(v);
}

#[test]
fun removing_a_stranger_withdraws_the_offer_to_it() {
    let mut v = vault_with_members();
    offer(&mut v, EVE, OWNER);
    remove_at(&mut v, BEN, 0, OWNER);
    assert!(v.offered == option::some(EVE));
    remove_at(&mut v, EVE, 0, OWNER);
    assert!(v.offered == option::none());
    destroy(v);
}

#[test, expected_failure(abort_code = EIsOwner)]
fun is_not_offered_to_the_owner() {
    let mut v = vault_with_members();
    offer(&mut v, OWNER, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotMember)]
fun a_stranger_cannot_leave() {
    let mut v = vault_with_members();
    leave_at(&mut v, 0, EVE);
    destroy(v);
}

#[test, expected_failure(abort_code = EIsOwner)]
fun the_owner_cannot_leave() {
    let mut v = vault_with_members();
    leave_at(&mut v, 0, OWNER);
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
    add_for_good(&mut v, ANNA, long, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EBadSigningKey)]
fun sets_no_short_key() {
    let mut v = vault_of(OWNER);
    set_key_at(&mut v, x"0102", 0, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EBadSigningKey)]
fun accepts_with_no_short_key() {
    let mut v = vault_of(OWNER);
    offer(&mut v, EVE, OWNER);
    accept_at(&mut v, x"01", 0, EVE);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotMember)]
fun a_stranger_sets_no_key() {
    let mut v = vault_with_members();
    set_key_at(&mut v, key(9), 0, EVE);
    destroy(v);
}

fun replace_often(v: &mut Vault, member: address, times: u8) {
    let mut at = 0;
    while (at < times) {
        set_key_at(v, key(100 + at), 0, member);
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
    remove_at(&mut v, ANNA, 0, OWNER);
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
    accept_at(&mut v, vector[], 0, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOffered)]
fun accepts_no_offer_to_another() {
    let mut v = vault_with_members();
    offer(&mut v, ANNA, OWNER);
    accept_at(&mut v, vector[], 0, BEN);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOffered)]
fun accepts_no_withdrawn_offer() {
    let mut v = vault_with_members();
    offer(&mut v, ANNA, OWNER);
    withdraw(&mut v, OWNER);
    accept_at(&mut v, vector[], 0, ANNA);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotOffered)]
fun accepts_no_offer_twice() {
    let mut v = vault_with_members();
    offer(&mut v, ANNA, OWNER);
    accept_at(&mut v, vector[], 0, ANNA);
    accept_at(&mut v, vector[], 0, ANNA);
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
    remove_at(&mut v, ANNA, 0, OWNER);
    raise_floor(&mut v, 2, &from_sender(OWNER));
    raise_floor(&mut v, 1, &from_sender(OWNER));
    destroy(v);
}

// === What was held back ===

fun is_last(v: &Vault, last: u8, before: u8): bool {
    v.last == digest_of(last) && v.before == digest_of(before)
}

fun add_in(v: &mut Vault, member: address, last: u8, transaction: u8, sender: address) {
    let clock = clock_at(0);
    add(v, member, vector[], NO_END, digest_of(last), &clock, &from_transaction(sender, transaction));
    destroy(clock);
}

fun extend_in(v: &mut Vault, member: address, last: u8, transaction: u8) {
    let clock = clock_at(0);
    extend(v, member, NO_END, digest_of(last), &clock, &from_transaction(OWNER, transaction));
    destroy(clock);
}

fun remove_in(v: &mut Vault, member: address, transaction: u8) {
    let clock = clock_at(0);
    remove(v, member, &clock, &from_transaction(OWNER, transaction));
    destroy(clock);
}

fun shorten_in(v: &mut Vault, member: address, transaction: u8) {
    let clock = clock_at(0);
    shorten(v, member, QUARTER, &clock, &from_transaction(OWNER, transaction));
    destroy(clock);
}

#[test]
fun every_act_of_the_owner_is_the_last_one() {
    let mut v = vault_with_ends();
    assert!(is_last(&v, 0, 0));
    add_in(&mut v, EVE, 0, 1, OWNER);
    assert!(is_last(&v, 1, 0));
    extend_in(&mut v, ANNA, 1, 2);
    assert!(is_last(&v, 2, 1));
    offer_ownership(&mut v, EVE, digest_of(2), &from_transaction(OWNER, 3));
    assert!(is_last(&v, 3, 2));
    withdraw_offer(&mut v, &from_transaction(OWNER, 4));
    assert!(is_last(&v, 4, 3));
    // What finds nothing to take away counts as well.
    withdraw_offer(&mut v, &from_transaction(OWNER, 5));
    assert!(is_last(&v, 5, 4));
    shorten_in(&mut v, BEN, 6);
    assert!(is_last(&v, 6, 5));
    shorten_in(&mut v, BEN, 7);
    assert!(is_last(&v, 7, 6));
    shorten_in(&mut v, @0xf, 8);
    assert!(is_last(&v, 8, 7));
    remove_in(&mut v, EVE, 9);
    assert!(is_last(&v, 9, 8));
    remove_in(&mut v, EVE, 10);
    assert!(is_last(&v, 10, 9));
    raise_floor(&mut v, 2, &from_transaction(OWNER, 11));
    assert!(is_last(&v, 11, 10));
    raise_floor(&mut v, 2, &from_transaction(OWNER, 12));
    assert!(is_last(&v, 12, 11));
    let clock = clock_at(0);
    renew(&mut v, &clock, &from_transaction(OWNER, 13));
    assert!(is_last(&v, 13, 12));
    offer_ownership(&mut v, EVE, digest_of(13), &from_transaction(OWNER, 14));
    accept_ownership(&mut v, vector[], vector[], &clock, &from_transaction(EVE, 15));
    assert!(is_last(&v, 15, 14));
    destroy(clock);
    destroy(v);
}

#[test]
fun acts_of_members_change_neither() {
    let mut v = vault_with_ends();
    let clock = clock_at(QUARTER);
    renew(&mut v, &clock, &from_transaction(OWNER, 1));
    sweep(&mut v, &from_transaction(BEN, 2));
    set_signing_key(&mut v, key(7), key(3), &clock, &from_transaction(BEN, 3));
    leave(&mut v, &clock, &from_transaction(BEN, 4));
    // The owner's own, which gives nobody a right and takes none away.
    set_signing_key(&mut v, key(8), key(1), &clock, &from_transaction(OWNER, 5));
    sweep(&mut v, &from_transaction(OWNER, 6));
    assert!(is_last(&v, 1, 0) && v.members == vector[]);
    destroy(clock);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun a_held_addition_is_void_after_a_removal() {
    let mut v = vault_with_members();
    remove_in(&mut v, ANNA, 2);
    add_in(&mut v, ANNA, 0, 1, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun a_held_addition_is_void_after_a_removal_of_nobody() {
    let mut v = vault_with_members();
    remove_in(&mut v, EVE, 2);
    add_in(&mut v, EVE, 0, 1, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun a_held_extension_is_void_after_a_shortening_that_found_nothing() {
    let mut v = vault_with_ends();
    shorten_in(&mut v, ANNA, 2);
    extend_in(&mut v, ANNA, 0, 1);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun a_held_offer_is_void_after_a_withdrawal_that_found_nothing() {
    let mut v = vault_with_members();
    withdraw_offer(&mut v, &from_transaction(OWNER, 2));
    offer_ownership(&mut v, ANNA, digest_of(0), &from_transaction(OWNER, 1));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun a_held_offer_is_void_after_another_offer() {
    let mut v = vault_with_members();
    offer_ownership(&mut v, BEN, digest_of(0), &from_transaction(OWNER, 2));
    offer_ownership(&mut v, ANNA, digest_of(0), &from_transaction(OWNER, 1));
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun of_an_act_and_its_retry_one_is_done() {
    let mut v = vault_with_ends();
    extend_in(&mut v, ANNA, 0, 1);
    extend_in(&mut v, BEN, 0, 2);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun nothing_is_held_over_an_acceptance() {
    let mut v = vault_with_members();
    let clock = clock_at(0);
    offer(&mut v, ANNA, OWNER);
    accept_ownership(&mut v, vector[], key(2), &clock, &from_transaction(ANNA, 1));
    offer_ownership(&mut v, OWNER, digest_of(1), &from_transaction(ANNA, 2));
    accept_ownership(&mut v, key(1), vector[], &clock, &from_transaction(OWNER, 3));
    add_in(&mut v, EVE, 0, 4, OWNER);
    destroy(clock);
    destroy(v);
}

#[test]
fun one_transaction_takes_and_gives() {
    let mut v = vault_with_members();
    remove_in(&mut v, ANNA, 1);
    add_in(&mut v, EVE, 0, 1, OWNER);
    add_in(&mut v, ANNA, 0, 1, OWNER);
    assert!(is_last(&v, 1, 0) && v.members.length() == 3);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun one_that_takes_and_gives_is_void_after_a_later_act() {
    let mut v = vault_with_members();
    remove_in(&mut v, ANNA, 2);
    // Held back since before that: its own removal does not let its addition pass.
    remove_in(&mut v, ANNA, 1);
    add_in(&mut v, ANNA, 0, 1, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun nothing_is_given_after_the_transaction_itself() {
    let mut v = vault_with_members();
    remove_in(&mut v, ANNA, 1);
    add_in(&mut v, ANNA, 1, 1, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = ENotLast)]
fun nothing_is_given_after_what_nobody_did() {
    let mut v = vault_with_members();
    add_in(&mut v, EVE, 7, 1, OWNER);
    destroy(v);
}

#[test, expected_failure(abort_code = EOtherKey)]
fun a_held_key_replaces_no_later_one() {
    let mut v = vault_with_members();
    set_key_at(&mut v, key(5), 0, ANNA);
    let clock = clock_at(0);
    set_signing_key(&mut v, key(4), key(2), &clock, &from_sender(ANNA));
    destroy(clock);
    destroy(v);
}

#[test, expected_failure(abort_code = EOtherKey)]
fun a_held_first_key_replaces_none() {
    let mut v = vault_with_members();
    set_key_at(&mut v, key(5), 0, BEN);
    let clock = clock_at(0);
    set_signing_key(&mut v, key(4), vector[], &clock, &from_sender(BEN));
    destroy(clock);
    destroy(v);
}

#[test, expected_failure(abort_code = EOtherKey)]
fun a_held_acceptance_replaces_no_later_key() {
    let mut v = vault_with_members();
    offer(&mut v, ANNA, OWNER);
    set_key_at(&mut v, key(5), 0, ANNA);
    let clock = clock_at(0);
    accept_ownership(&mut v, key(4), key(2), &clock, &from_sender(ANNA));
    destroy(clock);
    destroy(v);
}
