import { builtObservable, pendingObservable, sharedObservable, type Journey } from "../observable.ts";

const redeem: Journey = {
  name: "J4",
  title: "Agent redeems",
  observables: [
    pendingObservable(
      "cli",
      "J4-login",
      "cli",
      "login --invite-code makes a key file of mode 0600, stores the API key, prints the address",
    ),
    builtObservable(
      "J4-account",
      "api",
      'the account of that key says "agent", the agent\'s address, scopes and vaults as invited',
    ),
    builtObservable(
      "J4-sdk-redeem",
      "sdk",
      "the SDK redeems; the secret of the invite's text never reaches the service [D4-invite-secret]",
    ),
    builtObservable(
      "J4-webhook",
      "webhook",
      "invite.redeemed arrives at the owner's sink: the key's id and the agent's address, and no code or key",
    ),
    builtObservable("J4-second-redeem", "api", "a second redeem is refused"),
    builtObservable(
      "J4-parallel",
      "api",
      "two parallel redeems, again and again (100 times with full counts): exactly one key each time",
    ),
    builtObservable("J4-expired", "api", "after one hour the code is refused as expired"),
    builtObservable("J4-revoked", "api", "a revoked code is refused"),
    builtObservable(
      "J4-no-private-key",
      "api",
      "no 32-byte private key in hex, base64 or bech32 on the wire, on the disk or in the log",
    ),
    builtObservable("J4-replay", "api", "the redeem body replayed with another address is refused"),
    builtObservable("J4-owner-address", "api", 'a key whose address equals the owner\'s says accessLevel "owner"'),
  ],
};

const blind: Journey = {
  name: "J5",
  title: "Before membership the agent is blind",
  observables: [
    builtObservable("J5-vault-list", "mcp", "vault_list shows the invited vault alone"),
    sharedObservable(
      "J5-shared-vault-list",
      "mcp",
      "vault_list shows the shared vault it was invited to; another one is absent, and 404 by its id",
    ),
    pendingObservable("tools", "J5-vault-get", "mcp", "vault_get of another vault is refused"),
    sharedObservable(
      "J5-not-a-member",
      "mcp",
      "file_download of a shared file: isError, not_a_member, next step with address and owner command [S5.7-on-allowlist]",
    ),
    sharedObservable("J5-no-destination", "mcp", "the destination file does not exist"),
    sharedObservable("J5-api-content", "api", "the service refuses it content and vault keys: 403"),
    sharedObservable("J5-upload", "mcp", "it cannot upload either, and the vault holds no new file"),
    sharedObservable(
      "J5-access-check",
      "mcp",
      "vault_access_check says api: no, chain: no (not_a_member), with the address to add",
    ),
  ],
};

const addMember: Journey = {
  name: "J6",
  title: "Owner adds the agent's address",
  observables: [
    pendingObservable(
      "cli",
      "J6-transaction",
      "cli",
      "vaults members add makes a transaction; the allowlist is {owner, agent}",
    ),
    sharedObservable(
      "J6-sdk-add",
      "sdk",
      "members.add makes a transaction; the allowlist is {owner, agent} [D0-owner-signs]",
    ),
    sharedObservable("J6-listed", "api", "the member is listed with both layers active"),
    sharedObservable("J6-webhook", "webhook", "vault.member_added arrives at the sink"),
    sharedObservable("J6-again", "sdk", "adding again: the same member, no second transaction"),
    sharedObservable("J6-malformed", "api", "a malformed address is 400, and the SDK refuses it before any signing"),
    sharedObservable(
      "J6-not-on-allowlist",
      "api",
      "the service records nobody whom the chain does not name [D0-server-records-only]",
    ),
    sharedObservable(
      "J6-both-keys",
      "sdk",
      "granting and revoking need both keys: the owner's on the chain and an API key [S5.7-grant-access]",
    ),
    sharedObservable(
      "J6-hostile",
      "sdk",
      "with a service that names another address everywhere, the client signs none but the one it was given",
    ),
  ],
};

const transfer: Journey = {
  name: "J7",
  title: "Agent uploads and downloads through MCP",
  observables: [
    builtObservable(
      "J7-upload-receipt",
      "mcp",
      "file_upload of 5 MiB of random bytes answers fileId, bytes and sha256 of exactly those bytes",
    ),
    builtObservable("J7-owner-download", "api", "the owner's download over plain HTTP has the identical SHA-256"),
    builtObservable("J7-sdk-download", "sdk", "the SDK's download has the identical SHA-256"),
    sharedObservable(
      "J7-shared-upload",
      "mcp",
      "an added agent uploads: file_upload answers bytes and sha256 of the local file [S5.8-owner-adds]",
    ),
    sharedObservable("J7-shared-owner-download", "sdk", "the owner's download has the identical SHA-256, and the name"),
    sharedObservable(
      "J7-shared-download",
      "mcp",
      "file_download answers the receipt of the decrypted file, whose mode is 0600",
    ),
    sharedObservable(
      "J7-shared-existing",
      "mcp",
      "an existing destination is refused and unchanged; with overwrite: true it is replaced",
    ),
    sharedObservable("J7-shared-idempotency", "mcp", "the same idempotencyKey twice makes one encrypted file"),
    sharedObservable("J7-shared-no-canary", "mcp", "the JSON-RPC stream holds neither a key nor any content"),
    sharedObservable("J7-shared-quota", "mcp", "an upload larger than the quota is refused before bytes are sent"),
    sharedObservable(
      "J7-ciphertext",
      "api",
      "no 16-byte window, no digest of the plaintext and no name is stored or sent; size is plaintext + overhead [S1-shared-encryption]",
    ),
    sharedObservable(
      "J7-no-metadata",
      "api",
      "the service knows neither name nor content type, but in a vault that was made with plain names [D0-encrypted-names]",
    ),
    sharedObservable(
      "J7-both-keys",
      "sdk",
      "without the chain key nothing is sent and only encrypted bytes come, without the API key it is 401 [S5.7-shared-upload S5.7-shared-download]",
    ),
    sharedObservable(
      "J7-no-chain-key",
      "api",
      "no chain key is on the wire, on the disk or in the log [S5.1-chain-key-client-only S5.7-never-reaches-server]",
    ),
    builtObservable(
      "J7-download-receipt",
      "mcp",
      "file_download answers path, bytes and sha256, and the file holds those bytes",
    ),
    builtObservable(
      "J7-webhook",
      "webhook",
      "file.uploaded arrives at the owner's sink, with the bytes of the receipt",
    ),
    builtObservable("J7-download-mode", "mcp", "the downloaded file has mode 0600"),
    builtObservable("J7-existing-refused", "mcp", "an existing destination is refused and unchanged"),
    builtObservable("J7-overwrite", "mcp", "overwrite: true replaces it"),
    builtObservable("J7-outside-refused", "mcp", "a path outside the allowed folders is refused"),
    builtObservable("J7-dotdot-refused", "mcp", "a path with ../ that leaves them is refused"),
    builtObservable(
      "J7-symlink-folder-refused",
      "mcp",
      "a path through a symbolic link that leaves the root is refused",
    ),
    builtObservable("J7-symlink-last-refused", "mcp", "a symbolic link as the last component is refused"),
    builtObservable("J7-nothing-read", "mcp", "after the refused uploads the vault holds no new file"),
    builtObservable("J7-no-canary", "mcp", "the JSON-RPC stream holds neither the key nor any content"),
    builtObservable("J7-idempotency", "mcp", "the same idempotencyKey twice makes one file"),
    sharedObservable(
      "J7-tampering",
      "mcp",
      "bit flip, chunk swap, truncation, foreign chunk or header, plaintext: an error and no destination file",
    ),
    builtObservable(
      "J7-corrupt-download",
      "mcp",
      "bytes corrupted on the way are an error and leave no destination file",
    ),
    sharedObservable(
      "J7-range",
      "mcp",
      "1 MiB from the middle of an encrypted file: correct bytes (size and memory are the benchmark's)",
    ),
    pendingObservable(
      "tools",
      "J7-reveal-off",
      "mcp",
      'file_read_text on a shared vault is refused with "reveal is off"',
    ),
    pendingObservable("tools", "J7-reveal-fenced", "mcp", "after the operator's opt-in the text is fenced"),
    builtObservable("J7-quota", "mcp", "an upload larger than the quota is refused before bytes are sent"),
  ],
};

export const journeys4to7: readonly Journey[] = [redeem, blind, addMember, transfer];
