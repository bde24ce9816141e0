#!/usr/bin/env python3
"""Reads what members of a shared vault signed, with docs/spec/file-format.md alone: sections 6 to 10, and 12.

    decode-vault.py --vectors test/vectors/file-format/statements.json

It shares no code with Coffer, and takes sections 1 to 4 from decode-file.py beside it. Like that, it needs the package `cryptography`.
It does not talk to a chain or to key servers: the view of the vault object and the opened vault key come from its caller.
"""

import base64
import hashlib
import hmac
import importlib.util
import json
import pathlib
import sys
import unicodedata
import uuid
from collections import namedtuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("decode_file", pathlib.Path(__file__).with_name("decode-file.py"))
decode_file = importlib.util.module_from_spec(spec)
spec.loader.exec_module(decode_file)
Refused = decode_file.Refused

QUARTER = 900_000
SAFE = 2**53 - 1
NEVER = 2**64 - 1
PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE_D = -121665 * pow(121666, -1, PRIME) % PRIME
TRIMMED = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

Entry = namedtuple("Entry", "address key since until ends_at")
View = namedtuple("View", "vault generation floor base time plain_names entries up_to")
VaultKey = namedtuple("VaultKey", "vault place key")
Record = namedtuple("Record", "vault place creator check maker made body signature key_id length")
Version = namedtuple(
    "Version", "vault header start_digest number previous place key_id commitment message_length digest signer time body sibling signature whole"
)
Item = namedtuple("Item", "vault kind id number previous place key_id folder_id metadata_digest signer time body sibling signature whole")
Export = namedtuple("Export", "vault place manifest_digest signer time body signature")


class Fields:
    """Takes fields one after the other; a place that is none, or a number above 2^53 - 1, is damaged at `step`."""

    def __init__(self, data, step):
        self.data, self.at, self.step = data, 0, step

    def take(self, length):
        taken = self.data[self.at : self.at + length]
        self.at += length
        return taken

    def number(self, length):
        return int.from_bytes(self.take(length), "big")

    def safe(self):
        value = self.number(8)
        return value if value <= SAFE else self.refuse()

    def place(self):
        place = self.number(8), self.number(8)
        return place if place[1] % QUARTER == 0 else self.refuse()

    def refuse(self):
        raise Refused("damaged", self.step)


# Section 6: signatures, members, places


def digest_of(title, body):
    """Section 6.1: the 32 bytes that Ed25519 signs."""
    message = title.encode() + b"\0" + body
    length, prefix = len(message), b"\x03\x00\x00"
    while length >= 128:
        prefix += bytes([length & 127 | 128])
        length >>= 7
    return hashlib.blake2b(prefix + bytes([length]) + message, digest_size=32).digest()


def is_signed(public_key, message, signature):
    """Section 6.2."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    for point in (public_key, signature[:32]):
        y = int.from_bytes(point, "little") & (2**255 - 1)
        # A point of order 8 doubles to one with y = 0; with the curve's equation that is d·y^4 + 2·y^2 = 1.
        if y >= PRIME or y in (0, 1, PRIME - 1) or (CURVE_D * pow(y, 4, PRIME) + 2 * y * y - 1) % PRIME == 0:
            return False
    if int.from_bytes(signature[32:], "little") >= ORDER:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def signing_key(view, address, place):
    """Section 6.3, and 12.3 for a reader of an export; None: the address could not sign there."""
    generation, after = place
    if generation > view.generation or after > view.time or (view.up_to is not None and place > view.up_to):
        return None
    for entry in view.entries:
        holds = entry.since <= generation and (entry.until is None or generation <= entry.until) and after < entry.ends_at
        if holds and entry.address == address and entry.key:
            return entry.key
    return None


# Section 7: keys


def subkey(vault_key, use):
    info = f"coffer/{use}/v1".encode()
    return HKDFExpand(algorithm=hashes.SHA512(), length=32, info=info).derive(vault_key.key)


def parse_record(data):
    """Section 7.2. What follows the record is the caller's."""
    fields = Fields(data, "record")
    if len(data) < 275:
        fields.refuse()
    vault, place, creator, check = fields.take(32), fields.place(), fields.take(32), fields.take(32)
    maker, made, sealed = fields.take(32), fields.take(64), fields.number(2)
    length = 210 + sealed + 64
    if not 1 <= sealed <= 3584 or len(data) < length:
        fields.refuse()
    whole = data[:length]
    return Record(vault, place, creator, check, maker, made, whole[:-64], whole[-64:], hashlib.sha256(whole).digest(), length)


def parse_whole_record(data):
    record = parse_record(data)
    if len(data) != record.length:
        raise Refused("damaged", "record")
    return record


def require_in_order(view, record):
    if record.vault != view.vault:
        raise Refused("vault_changed", "record")
    made = record.body[:48] + record.maker + record.check
    for address, title, body, signature in (
        (record.maker, "coffer/vault-key-made/v1", made, record.made),
        (record.creator, "coffer/vault-key/v1", record.body, record.signature),
    ):
        key = signing_key(view, address, record.place)
        if key is None or not is_signed(key, digest_of(title, body), signature):
            raise Refused("damaged", "record")


def require_key_of(record, vault_key):
    if (vault_key.vault, vault_key.place, subkey(vault_key, "check")) != (record.vault, record.place, record.check):
        raise Refused("wrong_key", "record")


def open_at(step, message, key, context, code=None):
    """One message of section 2, whose failure is one of `step`."""
    try:
        return decode_file.open_message(message, key, context)
    except Refused as refused:
        raise Refused(code or refused.code, step) from None


def open_step(view, higher, higher_record, data, target):
    """Section 7.5: the key of `target`, opened by the higher one."""
    fields = Fields(data, "ladder")
    if len(data) != 200:
        fields.refuse()
    vault, source, to, check = fields.take(32), fields.place(), fields.place(), fields.take(32)
    if to >= source:
        fields.refuse()
    require_in_order(view, higher_record)
    require_key_of(higher_record, higher)
    if (vault, source) != (higher_record.vault, higher_record.place) or to[0] < view.base or to[0] < view.floor:
        fields.refuse()
    require_in_order(view, target)
    if (to, check) != (target.place, target.check):
        fields.refuse()
    opened = open_at("ladder", data[96:], subkey(higher, "ladder"), b"coffer/ladder/v1\0" + data[:96], "wrong_key")
    key = VaultKey(vault, to, opened)
    if len(opened) != 32 or subkey(key, "check") != check:
        raise Refused("wrong_key", "ladder")
    return key


# Section 8: statements


def split(data, length, step):
    """Fields, the sibling or None, the signature."""
    if len(data) not in (length + 64, length + 96):
        raise Refused("damaged", step)
    return data[:length], data[length:-64] or None, data[-64:]


def require_linked(number, previous, step):
    if number == 0 or (number == 1) != (not any(previous)):
        raise Refused("damaged", step)


def parse_version(data):
    body, sibling, signature = split(data, 308, "statement")
    fields = Fields(body, "statement")
    vault, header, start, number, previous = fields.take(32), fields.take(44), fields.take(32), fields.number(8), fields.take(32)
    require_linked(number, previous, "statement")
    place, key_id, commitment, length = fields.place(), fields.take(32), fields.take(32), fields.safe()
    if length - 56 < 16 or (length - 56) % decode_file.BLOCK < 16:
        fields.refuse()
    digest, signer, time = fields.take(32), fields.take(32), fields.safe()
    parts = vault, header, start, number, previous, place, key_id, commitment, length, digest, signer, time
    return Version(*parts, body, sibling, signature, data)


def parse_entry(data):
    body, sibling, signature = split(data, 225, "entry")
    fields = Fields(body, "entry")
    vault, kind, item, number, previous = fields.take(32), fields.number(1), fields.take(16), fields.number(8), fields.take(32)
    if kind not in (1, 2) or not any(item):
        fields.refuse()
    require_linked(number, previous, "entry")
    parts = fields.place(), fields.take(32), fields.take(16), fields.take(32), fields.take(32), fields.safe()
    return Item(vault, kind, item, number, previous, *parts, body, sibling, signature, data)


def own_digest(statement):
    """`dv` or `de` of section 8.1."""
    kind = b"version" if isinstance(statement, Version) else b"entry"
    return hashlib.sha256(b"coffer/" + kind + b"/v1\0" + statement.body).digest()


def require_signed(vault, view, statement, title, step):
    if view.vault != vault or statement.vault != vault:
        raise Refused("vault_changed", "pins")
    key, body, sibling = signing_key(view, statement.signer, statement.place), statement.body, getattr(statement, "sibling", None)
    if sibling is not None:
        both = [own_digest(statement), sibling]
        title, body = "coffer/upload/v1", b"".join(both if isinstance(statement, Version) else reversed(both))
    if key is None or not is_signed(key, digest_of(title, body), statement.signature):
        raise Refused("damaged", step)
    if statement.place[0] < view.floor:
        raise Refused("rolled_back", step)


def require_not_older(statement, seen, step):
    """Section 8.2. `seen`: number, place and hash of the newest one; None at first sight."""
    if seen is None:
        return
    number, place, seen_hash = seen
    same = statement.number == number and hashlib.sha256(statement.whole).digest() != seen_hash
    follows = statement.number == number + 1 and statement.previous != seen_hash
    if statement.number < number or statement.place < place or same or follows:
        raise Refused("rolled_back", step)


def require_one_act(version, entry):
    named, names = version.sibling == own_digest(entry), entry.sibling == own_digest(version)
    if not named and not names:
        return
    act = (version.vault, version.signer, version.place, 1, version.header[12:28])
    if not (named and names) or act != (entry.vault, entry.signer, entry.place, entry.kind, entry.id):
        raise Refused("damaged", "ids")


# Section 9: metadata and names


def take_metadata(kind, data):
    """The metadata, and what follows it."""
    fields = Fields(data, "metadata")
    encoding, name, content_type, size = fields.number(1), fields.take(fields.number(2)), fields.take(fields.number(1)), fields.safe()
    if fields.at > len(data) or encoding != 1 or not 1 <= len(name) <= 255 or len(content_type) > 245:
        fields.refuse()
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError:
        fields.refuse()
    bad_name = text in (".", "..") or any(letter < " " or letter in "/\\\x7f" for letter in text)
    if bad_name or text != text.strip(TRIMMED):
        fields.refuse()
    if not all(0x20 <= byte <= 0x7E for byte in content_type) or (kind == 1) != bool(content_type) or (kind == 2 and size):
        fields.refuse()
    return {"name": text, "contentType": content_type.decode(), "size": size}, data[fields.at :]


def parse_metadata(kind, data):
    metadata, rest = take_metadata(kind, data)
    if rest:
        raise Refused("damaged", "metadata")
    return metadata


def parse_padded_metadata(kind, data):
    metadata, rest = take_metadata(kind, data)
    if any(rest) or len(data) != next(size for size in (64, 128, 256, 512) if size >= len(data) - len(rest)):
        raise Refused("damaged", "metadata")
    return metadata


def name_index(vault_key, folder_id, name):
    return hmac.digest(subkey(vault_key, "name-index"), folder_id + unicodedata.normalize("NFC", name).encode(), "sha256")[:16]


def plain_name_index(folder_id, name):
    named = folder_id + unicodedata.normalize("NFC", name).encode()
    return hashlib.sha256(b"coffer/name-index/v1\0" + named).digest()[:16]


# Sections 10 and 12: reading


def require_named_record(view, statement, record):
    require_in_order(view, record)
    if (record.key_id, record.place) != (statement.key_id, statement.place):
        raise Refused("damaged", "record")


def read_version(vault, view, file_id, version_id, seen, vault_key, data, entry, file):
    """Section 10: the data key and the content."""
    statement = parse_version(data)
    require_signed(vault, view, statement, "coffer/version/v1", "statement")
    require_not_older(statement, seen, "statement")
    header = decode_file.parse_header(file)
    if entry is not None:
        require_one_act(statement, entry)
    if header["file_id"] != file_id or version_id not in (None, header["version_id"]) or file[:44] != statement.header:
        raise Refused("damaged", "ids")
    payload = 48 + header["envelope_length"]
    envelope, message = file[48:payload], file[payload:]
    if hashlib.sha256(file[:payload]).digest() != statement.start_digest:
        raise Refused("damaged", "start")
    record = parse_record(envelope)
    if len(envelope) != record.length + 104:
        raise Refused("damaged", "record")
    require_named_record(view, statement, record)
    require_key_of(record, vault_key)
    context = b"coffer/wrap/v1\0" + record.vault + record.key_id + statement.commitment + file[:44]
    data_key = open_at("wrap", envelope[record.length :], subkey(vault_key, "wrap"), context)
    if message[24:56] != statement.commitment:
        raise Refused("damaged", "commitment")
    if len(message) != statement.message_length:
        raise Refused("damaged", "length")
    content, _ = decode_file.decode(file, data_key)
    if any(statement.digest) and hashlib.sha256(message).digest() != statement.digest:
        raise Refused("damaged", "digest")
    return data_key, content


def read_entry(vault, view, kind, item, seen, vault_key, data, metadata, record):
    """Section 10, for a name: the metadata, and the folder's id or None."""
    statement = parse_entry(data)
    require_signed(vault, view, statement, "coffer/entry/v1", "entry")
    if view.plain_names == any(statement.key_id):
        raise Refused("damaged", "entry")
    require_not_older(statement, seen, "entry")
    if (statement.kind, statement.id) != (kind, item):
        raise Refused("damaged", "ids")
    if hashlib.sha256(metadata).digest() != statement.metadata_digest:
        raise Refused("damaged", "metadata")
    folder = statement.folder_id if any(statement.folder_id) else None
    if view.plain_names:
        return parse_metadata(kind, metadata), folder
    if record is None:
        raise Refused("damaged", "record")
    named = parse_whole_record(record)
    require_named_record(view, statement, named)
    require_key_of(named, vault_key)
    place = bytes([kind]) + item + statement.number.to_bytes(8, "big")
    context = b"coffer/metadata/v1\0" + vault + named.key_id + place
    return parse_padded_metadata(kind, open_at("metadata", metadata, subkey(vault_key, "metadata"), context)), folder


def read_export(vault, view, manifest, data):
    """Section 12.1."""
    if len(data) != 184:
        raise Refused("damaged", "export")
    fields = Fields(data, "export")
    statement = Export(fields.take(32), fields.place(), fields.take(32), fields.take(32), fields.safe(), data[:120], data[120:])
    require_signed(vault, view, statement, "coffer/export/v1", "export")
    if hashlib.sha256(manifest).digest() != statement.manifest_digest:
        raise Refused("damaged", "export")
    return statement


# The vectors


def check_vectors(vectors):
    """Returns how many vectors hold; raises AssertionError at the first that does not."""
    views = {name: view_of(view) for name, view in vectors["views"].items()}
    keys = {}
    for vector in vectors["vaultKeys"]:
        vault = views["another vault" if vector["name"] == "another vault's" else "now"].vault
        key = VaultKey(vault, place_of(vector), unpack(vector["key"]))
        for use, field in (("wrap", "wrap"), ("metadata", "metadata"), ("name-index", "nameIndex"), ("ladder", "ladder"), ("check", "check")):
            assert subkey(key, use) == unpack(vector[field]), (vector["name"], use)
        keys[vector["name"]] = key
    checked = len(keys) + check_material(vectors, keys)
    for read, cases in (
        (version_outcome, vectors["versions"]),
        (entry_outcome, vectors["entries"]),
        (export_outcome, vectors["exports"]),
        (step_outcome, vectors["ladder"]),
    ):
        for case in cases:
            try:
                outcome = read(case, views[case["view"]], keys)
            except Refused as refused:
                outcome = {"code": refused.code, "step": refused.step}
            assert outcome == case["expect"], (case["name"], outcome)
            checked += 1
    return checked


def check_material(vectors, keys):
    people = {person["name"]: person for person in vectors["people"]}
    for vector in vectors["signatures"]:
        person, digest, signature = people[vector["person"]], unpack(vector["digest"]), unpack(vector["signature"])
        assert digest_of(vector["title"], unpack(vector["body"])) == digest, vector["title"]
        assert is_signed(unpack(person["publicKey"]), digest, signature), vector["title"]
        assert Ed25519PrivateKey.from_private_bytes(unpack(person["seed"])).sign(digest) == signature, vector["title"]
    for vector in vectors["forgedSignatures"]:
        assert not is_signed(unpack(vector["publicKey"]), unpack(vector["message"]), unpack(vector["signature"])), vector["name"]
    for vector in vectors["metadata"]:
        kind, metadata = KINDS[vector["kind"]], vector["metadata"]
        assert parse_metadata(kind, unpack(vector["encoded"])) == metadata, metadata
        assert parse_padded_metadata(kind, unpack(vector["padded"])) == metadata, metadata
    for vector in vectors["refusedMetadata"]:
        try:
            parse_metadata(KINDS[vector["kind"]], unpack(vector["encoded"]))
        except Refused as refused:
            assert refused.code == "damaged", vector["name"]
        else:
            raise AssertionError(vector["name"])
    for vector in vectors["nameIndexes"]:
        folder, name = folder_of(vector["folderId"]), vector["name"]
        assert name_index(keys[vector["vaultKey"]], folder, name) == unpack(vector["index"]), name
        assert plain_name_index(folder, name) == unpack(vector["plainIndex"]), name
    return sum(len(vectors[part]) for part in ("signatures", "forgedSignatures", "metadata", "refusedMetadata", "nameIndexes"))


KINDS = {"file": 1, "folder": 2}
unpack = base64.b64decode


def pack(data):
    return base64.b64encode(data).decode()


def folder_of(text):
    return bytes(16) if text is None else uuid.UUID(text).bytes


def place_of(vector):
    return int(vector["generation"]), int(vector["after"])


def seen_of(vector):
    return vector and (int(vector["number"]), place_of(vector), unpack(vector["hash"]))


def view_of(view):
    def entry(member):
        until, ends_at = member.get("until"), member["endsAt"]
        held = int(member["since"]), None if until is None else int(until), NEVER if ends_at is None else int(ends_at)
        return Entry(unpack(member["address"]), unpack(member["signingKey"]), *held)

    entries = [entry(member) for member in [view["owner"], *view["members"], *view["former"]]]
    numbers = [int(view[field]) for field in ("generation", "floor", "base", "time")]
    return View(unpack(view["vault"]), *numbers, view["plainNames"], entries, view["upTo"] and place_of(view["upTo"]))


def version_outcome(case, view, keys):
    entry = case["entry"] and parse_entry(unpack(case["entry"]))
    reader = unpack(case["vault"]), view, case["fileId"], case["versionId"], seen_of(case["seen"]), keys[case["vaultKey"]]
    data_key, content = read_version(*reader, unpack(case["statement"]), entry, unpack(case["file"]))
    return {"dataKey": pack(data_key), "content": content.decode()}


def entry_outcome(case, view, keys):
    record = case["record"] and unpack(case["record"])
    reader = unpack(case["vault"]), view, KINDS[case["kind"]], folder_of(case["id"]), seen_of(case["seen"]), keys[case["vaultKey"]]
    metadata, folder = read_entry(*reader, unpack(case["statement"]), unpack(case["metadata"]), record)
    return {"metadata": metadata, "folderId": folder and str(uuid.UUID(bytes=folder))}


def export_outcome(case, view, _keys):
    read = read_export(unpack(case["vault"]), view, unpack(case["manifest"]), unpack(case["statement"]))
    generation, after = read.place
    return {"signer": pack(read.signer), "generation": str(generation), "after": str(after), "time": read.time}


def step_outcome(case, view, keys):
    records = parse_whole_record(unpack(case["higher"])), parse_whole_record(unpack(case["target"]))
    return {"key": pack(open_step(view, keys[case["higherKey"]], records[0], unpack(case["step"]), records[1]).key)}


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--vectors":
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8") as source:
        print(f"{check_vectors(json.load(source))} vectors hold")
