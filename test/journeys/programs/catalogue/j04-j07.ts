import { journey, type Journey } from "../observable.ts";

const redeem = journey("J4", "Agent redeems", [
  "J4-login cli: login --invite-code makes a key file of mode 0600, stores the API key, prints the address [S4.3-cli-invite-redeem S5.8-agent-redeems S5.7-client-storage]",
  "J4-tools mcp: coffer-mcp join redeems too; then status_check shows the agent's address, which the owner adds, and its vaults",
  'J4-account api: the account of that key says "agent", the agent\'s address, scopes and vaults as invited',
  "J4-sdk-redeem sdk: the SDK redeems; the secret of the invite's text never reaches the service [D4-invite-secret]",
  "J4-webhook webhook: invite.redeemed arrives at the owner's sink: the key's id and the agent's address, and no code or key",
  "J4-second-redeem api: a second redeem is refused",
  "J4-parallel api: two parallel redeems, again and again (100 times with full counts): exactly one key each time",
  "J4-expired api: after one hour the code is refused as expired",
  "J4-revoked api: a revoked code is refused",
  "J4-no-private-key api: no 32-byte private key in hex, base64 or bech32 on the wire, on the disk or in the log",
  "J4-replay api: the redeem body replayed with another address is refused",
  'J4-owner-address api: a key whose address equals the owner\'s says accessLevel "owner"',
]);

const blind = journey("J5", "Before membership the agent is blind", [
  "J5-vault-list mcp: vault_list shows the invited vault alone",
  "J5-shared-vault-list mcp (shared): vault_list shows the shared vault it was invited to; another one is absent, and 404 by its id",
  "J5-vault-get mcp: vault_list of another vault is refused",
  "J5-not-a-member mcp (shared): file_download of a shared file: isError, not_a_member, next step with address and owner command [S5.7-on-allowlist W0 W2]",
  "J5-no-destination mcp (shared): the destination file does not exist",
  "J5-api-content api (shared): the service refuses it content and vault keys: 403 [W2]",
  "J5-upload mcp (shared): it cannot upload either, and the vault holds no new file",
  "J5-access-check mcp (shared): vault_access_check says api: no, chain: no (not_a_member), with the address to add",
]);

const addMember = journey("J6", "Owner adds the agent's address", [
  "J6-transaction cli (shared): vaults members add makes a transaction; the allowlist is {owner, agent}",
  "J6-sdk-add sdk (shared): members.add makes a transaction; the allowlist is {owner, agent} [D0-owner-signs]",
  "J6-tools mcp (shared): access_grant makes an address a member once the user agreed; its own tools then open what was refused",
  "J6-listed api (shared): the member is listed with both layers active",
  "J6-webhook webhook (shared): vault.member_added arrives at the sink",
  "J6-again sdk (shared): adding again: the same member, no second transaction [E6]",
  "J6-malformed api (shared): a malformed address is 400, and the SDK refuses it before any signing",
  "J6-not-on-allowlist api (shared): the service records nobody whom the chain does not name [D0-server-records-only S5 A3]",
  "J6-both-keys sdk (shared): granting and revoking need both keys: the owner's on the chain and an API key [S5.7-grant-access M4 A3]",
  "J6-hostile sdk (shared): with a service that names another address everywhere, the client signs none but the one it was given [S5]",
]);

const transfer = journey("J7", "Agent uploads and downloads through MCP", [
  "J7-upload-receipt mcp: file_upload of 5 MiB of random bytes answers fileId, bytes and sha256 of exactly those bytes",
  "J7-owner-download api: the owner's download over plain HTTP has the identical SHA-256",
  "J7-sdk-download sdk: the SDK's download has the identical SHA-256",
  "J7-shared-upload mcp (shared): an added agent uploads: file_upload answers bytes and sha256 of the local file [S5.8-owner-adds]",
  "J7-shared-owner-download sdk (shared): the owner's download has the identical SHA-256, and the name",
  "J7-shared-download mcp (shared): file_download answers the receipt of the decrypted file, whose mode is 0600 [W1]",
  "J7-shared-existing mcp (shared): an existing destination is refused and unchanged; with ifExists: replace it is replaced once the user agrees",
  "J7-shared-idempotency mcp (shared): the same idempotencyKey twice makes one encrypted file",
  "J7-shared-no-canary mcp (shared): the JSON-RPC stream holds neither a key nor any content",
  "J7-shared-quota mcp (shared): an upload larger than the quota is refused before bytes are sent",
  "J7-ciphertext api (shared): no 16-byte window, no digest of the plaintext and no name is stored or sent; size is plaintext + overhead [S1-shared-encryption S1 S4 S27]",
  "J7-no-metadata api (shared): the service knows neither name nor content type, but in a vault that was made with plain names [D0-encrypted-names S1 S9 A6]",
  "J7-both-keys sdk (shared): without the chain key nothing is sent and only encrypted bytes come, without the API key it is 401 [S5.7-shared-upload S5.7-shared-download W4 A1 C1]",
  "J7-no-chain-key api (shared): no chain key is on the wire, on the disk or in the log [S5.1-chain-key-client-only S5.7-never-reaches-server S3]",
  "J7-download-receipt mcp: file_download answers path, bytes and sha256, and the file holds those bytes",
  "J7-webhook webhook: file.uploaded arrives at the owner's sink, with the bytes of the receipt",
  "J7-download-mode mcp: the downloaded file has mode 0600",
  "J7-existing-refused mcp: an existing destination is refused and unchanged",
  "J7-overwrite mcp: ifExists: replace replaces it once the user agrees",
  "J7-outside-refused mcp: a path outside the allowed folders is refused",
  "J7-dotdot-refused mcp: a path with ../ that leaves them is refused",
  "J7-symlink-folder-refused mcp: a path through a symbolic link that leaves the root is refused",
  "J7-symlink-last-refused mcp: a symbolic link as the last component is refused",
  "J7-nothing-read mcp: after the refused uploads the vault holds no new file",
  "J7-no-canary mcp: the JSON-RPC stream holds neither the key nor any content",
  "J7-idempotency mcp: the same idempotencyKey twice makes one file",
  "J7-tampering mcp (shared): bit flip, chunk swap, truncation, foreign chunk or header, plaintext: an error and no destination file [S13 S26]",
  "J7-corrupt-download mcp: bytes corrupted on the way are an error and leave no destination file",
  "J7-range mcp (shared): 1 MiB from the middle of an encrypted file: correct bytes (what is fetched is counted in test/shared-files/ranges.test.ts)",
  "J7-reveal-off mcp (shared): file_read of a shared vault's text is refused unless the operator allowed it",
  "J7-reveal-fenced mcp (shared): after the operator's opt-in the text is fenced",
  "J7-quota mcp: an upload larger than the quota is refused before bytes are sent",
]);

export const journeys4to7: readonly Journey[] = [redeem, blind, addMember, transfer];
