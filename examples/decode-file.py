#!/usr/bin/env python3
"""Decodes a Coffer file with nothing but its data key and docs/spec/file-format.md, sections 1 to 4.

    decode-file.py FILE DATA_KEY_IN_HEX > content
    decode-file.py --vectors test/vectors/file-format/payload.json

It shares no code with Coffer: it exists to show that the specification is enough. It needs the package `cryptography` (Debian:
python3-cryptography), of which it takes HKDF-Expand and AES-GCM. It reads the whole file into memory, and does not look into the
envelope: unwrapping the data key (section 7) and the statements that say which file this is (section 8) are not its subject.
"""

import base64
import hashlib
import json
import sys
import uuid

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

MAGIC = bytes.fromhex("93 43 46 52 0d 0a 1a 0a")
CHUNK = 16384
BLOCK = CHUNK + 16


class Refused(Exception):
    """The file is refused; `released` is how much content a stream would have given by then."""

    def __init__(self, code, step, released=0):
        super().__init__(f"{code} at {step}")
        self.code, self.step, self.released = code, step, released


def decode(file, data_key):
    """Returns (content, header): section 4.1 without statements."""
    header = parse_header(file)
    prefix = 48 + header["envelope_length"]
    if len(file) < prefix + 56:
        raise Refused("damaged", "length")
    context = b"coffer/file/v1\0" + file[:44]
    plaintext = open_message(file[prefix:], data_key, context)
    return (remove_padding(plaintext) if header["padded"] else plaintext), header


def parse_header(file):
    """Section 1.1."""
    magic = file[:8]
    if not magic or not MAGIC.startswith(magic):
        raise Refused("not_encrypted", "header")
    if len(file) < 48:
        raise Refused("damaged", "header")
    version, suite, flags, reserved = file[8:12]
    if version != 1:
        raise Refused("unsupported_version", "header")
    if suite != 2:
        raise Refused("unsupported_suite", "header")
    envelope_length = int.from_bytes(file[44:48], "big")
    if flags > 1 or reserved != 0 or envelope_length > 4096:
        raise Refused("damaged", "header")
    return {
        "padded": flags == 1,
        "file_id": str(uuid.UUID(bytes=bytes(file[12:28]))),
        "version_id": str(uuid.UUID(bytes=bytes(file[28:44]))),
        "envelope_length": envelope_length,
    }


def open_message(message, key, context):
    """Section 2."""
    salt, commitment, chunks = message[:24], message[24:56], message[56:]
    info = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0" + salt + context
    derived = HKDFExpand(algorithm=hashes.SHA512(), length=76, info=info).derive(key)
    if derived[44:] != commitment:
        raise Refused("wrong_key", "commitment")
    aead, base_nonce = AESGCM(derived[:32]), int.from_bytes(derived[32:44], "big")
    plaintext = bytearray()
    number = 0
    while True:
        block = chunks[number * BLOCK : (number + 1) * BLOCK]
        if len(block) < 16:
            raise Refused("damaged", "chunks", len(plaintext))
        try:
            plaintext += aead.decrypt((base_nonce ^ number).to_bytes(12, "big"), bytes(block), None)
        except InvalidTag:
            raise Refused("damaged", "chunks", len(plaintext)) from None
        number += 1
        if len(block) < BLOCK:
            return bytes(plaintext)


def remove_padding(plaintext):
    """Sections 3.2 and 3.3."""
    size = int.from_bytes(plaintext[-8:], "big")
    if len(plaintext) < 8 or size > len(plaintext) - 8 or padded_size(size) != len(plaintext):
        raise Refused("damaged", "padding")
    if any(plaintext[size:-8]):
        raise Refused("damaged", "padding")
    return plaintext[:size]


def padded_size(size):
    length = size + 8
    exponent = length.bit_length() - 1
    step = 1 << (exponent - exponent.bit_length())
    rounded = -(-length // step) * step
    return rounded + max(0, 8 - rounded % CHUNK)


def message_size(plaintext):
    return 56 + plaintext + 16 * (plaintext // CHUNK + 1)


def check_vectors(vectors):
    """Returns how many vectors hold; raises AssertionError at the first that does not."""
    unpack = base64.b64decode
    checked = 0
    for row in vectors["sizes"]:
        assert message_size(row["content"]) == row["message"] and padded_size(row["content"]) == row["padded"], row
    for vector in vectors["messages"]:
        plaintext = open_message(unpack(vector["message"]), unpack(vector["key"]), unpack(vector["context"]))
        assert plaintext == unpack(vector["plaintext"]), vector["name"]
        checked += 1
    files = {vector["name"]: vector for vector in vectors["files"]}
    for name, vector in files.items():
        file = unpack(vector["file"])
        content, header = decode(file, unpack(vector["dataKey"]))
        assert len(content) == vector["contentSize"], name
        assert hashlib.sha256(content).hexdigest() == vector["contentSha256"], name
        assert (header["file_id"], header["version_id"]) == (vector["fileId"], vector["versionId"]), name
        message = file[48 + header["envelope_length"] :]
        assert hashlib.sha256(message).digest() == unpack(vector["digest"]), name
        checked += 1
    for failure in vectors["failures"]:
        file = edit(files, failure)
        expected = (failure["code"], failure["step"], failure["released"])
        assert refusal(file, unpack(files[failure["file"]]["dataKey"])) == expected, failure["name"]
        checked += 1
    for malformed in vectors["malformed"]:
        refused = refusal(unpack(malformed["file"]), unpack(malformed["dataKey"]))
        assert refused is not None and refused[:2] == (malformed["code"], malformed["step"]), malformed["name"]
        checked += 1
    return checked


def refusal(file, data_key):
    try:
        decode(file, data_key)
    except Refused as refused:
        return refused.code, refused.step, refused.released
    return None


def edit(files, failure):
    file = bytearray(base64.b64decode(files[failure["file"]]["file"]))
    for change in failure["edits"]:
        at = change["at"]
        if "xor" in change:
            file[at] ^= change["xor"]
            continue
        insert = change.get("insert", {"bytes": ""})
        if "file" in insert:
            source = base64.b64decode(files[insert["file"]]["file"])
            inserted = source[insert["from"] : insert["to"]]
        else:
            inserted = base64.b64decode(insert["bytes"])
        file[at : at + change["remove"]] = inserted
    return bytes(file)


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    if arguments[0] == "--vectors":
        with open(arguments[1], encoding="utf-8") as source:
            print(f"{check_vectors(json.load(source))} vectors hold")
        return
    with open(arguments[0], "rb") as source:
        file = source.read()
    try:
        content, _ = decode(file, bytes.fromhex(arguments[1]))
    except Refused as refused:
        sys.exit(f"refused: {refused}")
    sys.stdout.buffer.write(content)


if __name__ == "__main__":
    main(sys.argv[1:])
