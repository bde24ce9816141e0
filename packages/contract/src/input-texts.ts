/** What each field that a caller sends is, with its unit and default: keys as in field-texts.ts, below `in`. See describe.ts. */
export const INPUT_TEXTS: Readonly<Record<string, string>> = {
  // Lists
  limit: "Most rows of one page: 1 to 1,000. Default: 100.",
  cursor: "The `nextCursor` of the page before. Default: the first page.",
  idPrefix: "Lists only ids that begin with these 8 or more hex digits, dashes or not. Default: every id.",
  trashed: "`true`: only items in the trash. Default: `false`, only items outside it.",

  // Ids and names
  sessionId: "UUID of the session.",
  keyId: "UUID of the API key.",
  inviteId: "UUID of the invite.",
  vaultId: "UUID of the vault.",
  folderId: "UUID of the folder.",
  fileId: "UUID of the file.",
  uploadId: "UUID of the upload.",
  webhookId: "UUID of the webhook endpoint.",
  deliveryId: "UUID of the delivery.",
  versionId: "UUID of one content: reads this content and no other. Default: the current content.",
  name: "Name: at most 255 bytes of UTF-8.",
  "account.update.in.name": "Name for people to read: 1 to 200 characters. null removes it. Default: unchanged.",
  "auth.signup.in.name": "Name for people to read: 1 to 200 characters. Default: none.",
  "development.signup.in.name": "Name for people to read: 1 to 200 characters. Default: none.",
  "apiKeys.create.in.name": "Name of the key, for people to read: 1 to 200 characters.",
  "invites.create.in.name": "Name of the invite and of the key it makes: 1 to 200 characters.",
  "files.list.in.name": "Lists only this exact name. Default: every name.",
  "folders.list.in.name": "Lists only this exact name. Default: every name.",
  "files.update.in.name": "New name. Default: unchanged.",
  "folders.update.in.name": "New name. Default: unchanged.",
  "vaults.update.in.name": "New name. Default: unchanged.",
  "files.upload.in.name": "Name of the file. A multipart upload takes the part's file name by default.",
  "folders.create.in.name": "Name of the folder. Default: none, in a shared vault with encrypted names.",
  "files.restore.in.name": "Another name, if the old one is taken. Default: the old name.",
  "folders.restore.in.name": "Another name, if the old one is taken. Default: the old name.",
  "vaults.restore.in.name": "Another name, if the old one is taken. Default: the old name.",
  "ownership.claim.in.name": "Name of the vault in your account. Default: its own name.",

  // Credentials
  email: "E-mail address, at most 254 characters. Letters are stored in lower case.",
  password: "Password of the account.",
  "auth.signup.in.password": "New password: 15 to 256 characters.",
  currentPassword: "The password as it is now.",
  newPassword: "New password: 15 to 256 characters.",
  accessCode: "Code that lets a new person sign up. Default: none, where the operator asks for none.",
  token: "The token from the mailed link. It works once.",
  refreshToken: "The newest refresh token of the session.",
  code: "Code that the identity provider sent to your page.",
  "auth.checkAccessCode.in.code": "Access code to check.",
  "invites.redeem.in.code": "The invite code as you received it.",
  state: "The `state` that the authorization gave.",
  nonce: "The nonce of the challenge.",
  "identityProvider.authorizeZklogin.in.nonce":
    "zkLogin nonce: 27 characters of base64url. Default: you add it to the address yourself.",
  idToken: "Signed token of the identity provider (JWT).",
  ephemeralPublicKey: "Public key of this sign-in with its flag byte, in base64.",
  maxEpoch: "Last chain epoch in which the ephemeral key may sign.",
  randomness: "The random decimal number in the nonce.",
  proof: "zkLogin proof of your own prover. Default: none is sent.",
  proofPoints: "The three points of the proof, as decimal numbers.",
  "proofPoint.a": "First point of the proof.",
  "proofPoint.b": "Second point of the proof: pairs of coordinates.",
  "proofPoint.c": "Third point of the proof.",
  issBase64Details: "Where the issuer is in the token.",
  value: "The issuer's part of the token, in base64url.",
  indexMod4: "Where that part begins in the token, modulo 4.",
  headerBase64: "Header of the token, in base64url.",
  addressSeed: "Seed of the chain address, a decimal number.",
  chainAddress: "Sui address: `0x` and 64 lower-case hex digits.",
  "apiKeys.create.in.chainAddress": "Sui address of the key: `0x` and 64 hex digits. Default: none.",
  "invites.redeem.in.signature":
    "Serialised Sui signature of the expected text, in base64. Default: none, which only some development servers accept.",
  "invites.redeem.in.signedAt":
    "When it was signed: RFC 3339 in UTC, within 5 minutes of the service's clock. Default: none, as for the signature.",
  signature: "Serialised Sui signature of the expected text, in base64.",
  signedAt: "When it was signed: RFC 3339 in UTC. It may differ from the service's clock by 5 minutes.",
  addressProof: "Signature that proves the address. Default: none, which only the account's own address allows.",
  "invites.redeem.in.addressProof":
    "Proof for the inviter that you held the whole invite: 64 hex digits. Default: none.",
  signingKey: "Ed25519 key of your statements: 32 bytes in base64. Default: the chain key signs them.",
  scopes: "What it may do, such as `files:read`. Default: everything its access level allows.",
  vaultIds: "UUIDs of the vaults it may use, 1 to 1,000. Default: every vault.",
  expiresInDays:
    "Days until the key ends: more than 0, at most 3,650; fractions are allowed. Default: with the credential of this call, or never.",
  overlapHours: "Hours that the old key still works: 0 to 168. Default: 0, it ends at once.",
  expiresInHours: "Hours until the invite ends: more than 0, at most 72; fractions are allowed. Default: 1.",
  budgets:
    "How much the key may store, write and ask. Default: the budgets of the credential of this call, counted together with it, or none.",
  storedBytes: "Bytes that the key may have in storage at a time, trash and versions included. Default: no budget.",
  bytesPerDay: "Bytes of files and versions that it may write within any 24 hours. Default: no budget.",
  filesPerDay: "Files and versions that it may write within any 24 hours. Default: no budget.",
  requestsPerMinute: "Requests a minute: 1 to 1,000,000. Default: no budget.",
  accessUntil:
    "When the new key ends, and memberships that the invite leads to: RFC 3339 in UTC, a whole quarter of an hour. Not before the invite ends. Default: never.",

  // Vaults and members
  type: "`public` or `shared`. Default: both.",
  "vaults.create.in.type": "`public`: the service can read the files. `shared`: only members can.",
  chainObjectId:
    "Sui id of the allowlist of a shared vault: `0x` and 64 hex digits. Default: none, for a public vault.",
  "vaults.list.in.shared": "`true`: vaults of other accounts that have you as a member. Default: `false`.",
  force: "`true`: moves the vault to the trash even when it holds files. Default: `false`.",
  permanent:
    "`true`: deletes for good, with no way back. The bytes leave the server's disk 24 hours later. Default: `false`, to the trash.",
  label: "Note about the member for the owner: 1 to 200 characters. Default: none.",
  until:
    "When access ends: RFC 3339 in UTC, a whole quarter of an hour. null: no end. Must be the end on the chain. Default: the end on the chain, unchecked.",
  generation: "Lists only keys of this generation. Default: every generation.",
  record: "The sealed and signed record of the key, in base64.",
  replaces: "SHA-256 of the record that this one replaces: 64 hex digits. Default: there is none yet.",
  steps: "At most 16 steps down from the record's key, stored with it or not at all. Default: none.",
  step: "The sealed step, in base64.",
  "step.to": "SHA-256 of the record of the key inside the step: 64 hex digits.",
  act: "What you want to do: `delete-vault`, `purge-vault`, `delete-file`, `delete-version`, `empty-trash` or `shorten-retention`.",
  "deletion.challenge.in.fileId":
    "UUID of the file, for `delete-file` and `delete-version`. Default: none, for the other acts.",
  "deletion.challenge.in.versionId": "UUID of the version, for `delete-version`. Default: none, for the other acts.",
  "folderNames.get.in.folderId": "UUID of the folder. Default: the top of the vault.",
  "folderNames.stage.in.folderId": "UUID of the folder. null: the top of the vault.",
  "folderNames.stage.in.keyId": "SHA-256 of the record of the key to change to: 64 hex digits.",
  entries: "Names under the new key, at most 200.",
  ids: "UUIDs of files and folders, at most 1,000. A folder also needs the scope `folders:write`.",
  "files.moveMany.in.folderId": "UUID of the folder to move into. null: the top of the vault that each lies in.",
  "files.moveMany.in.entries": "In a shared vault: the signed statement of each new place. Default: none.",
  "files.moveMany.in.entry.id": "UUID of the file or folder that the statement is of.",
  entry: "Signed statement about name and place, in base64.",
  metadata: "Name and media type in base64, encrypted unless the vault has plain names.",
  nameIndex: "Blind index of a name in a shared vault: 32 lower-case hex digits. Default: every name.",
  shared: "Signed and encrypted name and place, in a shared vault. Default: none, in a public one.",

  // Files and folders
  "files.upload.in.vaultId":
    "UUID of the vault. Default: the vault of `folderId`, else your default vault (`isDefault`), which is public.",
  "folders.create.in.vaultId":
    "UUID of the vault. Default: the vault of `parentId`, else your default vault (`isDefault`), which is public.",
  "files.upload.in.folderId": "UUID of the folder. Default: the top of the vault.",
  "files.list.in.vaultId": "UUID of the only vault to list. Default: every vault you may read.",
  "folders.list.in.vaultId": "UUID of the only vault to list. Default: every vault you may read.",
  "files.list.in.folderId": "Lists only this folder; `root` is the top of a vault. Default: every folder.",
  "folders.list.in.parentId": "Lists only what this folder holds; `root` is the top of a vault. Default: every folder.",
  "files.batch.in.vaultId": "UUID of the vault of all files. Default: as in an upload, that of the first file.",
  q: "Words to find in names, at most 16 and 256 characters. Case and accents do not matter. Default: every name.",
  "files.search.in.vaultId":
    "UUID of the only vault to search. Default: every vault of your account that you may read.",
  "files.search.in.folderId": "Searches only this folder and all below it. Default: everywhere.",
  "files.search.in.type": "Media type such as `image/png`, or its first half such as `image/`. Default: every type.",
  minSize: "Fewest stored bytes. Default: 0.",
  maxSize: "Most stored bytes. Default: any number.",
  "files.search.in.since": "Only files made at this time or later: RFC 3339 in UTC. Default: from the first one on.",
  "files.search.in.until": "Only files made before this time: RFC 3339 in UTC. Default: up to now.",
  "files.search.in.by":
    "Only files of this author: the UUID of a key or session, or a chain address. Default: every author.",
  sourceId: "UUID of the kept version whose content comes back.",
  "files.deleteVersion.in.versionId": "UUID of the kept version.",
  keep: "`false`: gives up the content before at once; its bytes leave the server's disk 24 hours later. Owner only, in a public vault. Default: `true`.",
  keepVersionsDays:
    "Days that replaced versions stay, those kept already included: 1 to 365. null: as the service's setting says. Default: unchanged.",
  "files.update.in.folderId": "UUID of the folder to move to. null: the top of the vault. Default: unchanged.",
  parentId: "UUID of the folder to put it in. null or default: the top of the vault.",
  "folders.update.in.parentId": "UUID of the folder to move to. null: the top of the vault. Default: unchanged.",
  kind: "`files`: files in the trash. `vaults`: vaults in the trash. Default: `files`.",
  "trash.empty.in.vaultId": "UUID of the only vault whose trash is emptied. Default: every public vault of yours.",
  "trash.list.in.vaultId": "UUID of the only vault to list. Default: every vault you may read.",
  "if-match":
    "Acts only while it has this entity tag: its revision in quotes, or the tag that a client computed of it. Otherwise: 412. Default: always.",
  "files.content.in.if-match": "Acts only when the content still has this entity tag. Otherwise: 412. Default: always.",
  "files.contentHead.in.if-match":
    "Acts only when the content still has this entity tag. Otherwise: 412. Default: always.",
  "files.replace.in.if-match":
    "Acts only while the content has this entity tag, or the file the tag that a client computed of it. Otherwise: 412. Default: always.",
  "files.restoreVersion.in.if-match":
    "Acts only while the content has this entity tag, or the file the tag that a client computed of it. Otherwise: 412. Default: always.",
  "uploads.create.in.if-match":
    "Acts only while the content has this entity tag, or the file the tag that a client computed of it. Otherwise: 412. Default: always.",
  conditions: "Entity tags that some of the ids must still have, as `If-Match` of a change of one. Default: none.",
  "condition.id": "UUID of the file or folder.",
  "condition.ifMatch": "Its revision in quotes, or the tag that a client computed of it.",
  "if-none-match": "Answers 304 when the content still has this entity tag. Default: always sends the content.",
  "files.upload.in.if-none-match":
    "`*`: stores only when nothing has the name yet, else 412. Default: a name that is taken answers 409.",
  "uploads.create.in.if-none-match":
    "`*`: stores only when nothing has the name yet, else 412. Default: a name that is taken answers 409.",
  range: "Bytes to send, such as `bytes=0-1023`. Default: the whole content.",
  "if-range":
    "Entity tag: sends the range only when the content still has it. Otherwise the whole content. Default: always the range.",
  "coffer-content-origins":
    "Origins at which the client takes contents, with spaces between them. Default: none, and the service sends the bytes itself.",
  "content-digest":
    "Digest of the body (RFC 9530), such as `sha-256=:…:`. A mismatch stores nothing. Default: not checked.",
  "repr-digest":
    "Digest of the file (RFC 9530), such as `sha-256=:…:`. A mismatch stores nothing. Default: not checked.",
  "coffer-restores": "UUID of the kept version whose content a shared vault's file gets again. Default: none.",
  "coffer-proof": "Nonce of a deletion challenge, a dot, and the owner's signature. Default: none, in a public vault.",
  "coffer-version":
    "In a shared vault: the signed statement about the content, in base64. Default: none, in a public vault.",
  "coffer-entry":
    "In a shared vault: the signed statement about name and place, in base64. Default: none, in a public vault.",
  "coffer-metadata":
    "In a shared vault: name and media type in base64, encrypted unless names are plain. Default: none, in a public vault.",
  "coffer-name-index":
    "In a shared vault: the blind index of the name, 32 lower-case hex digits. Default: none, in a public vault.",
  "Idempotency-Key":
    "1 to 255 visible characters. A repeat with the same key gets the first answer, and nothing is done again. Default: every request counts.",
  "tus-resumable": "Version of the tus protocol. Default: `1.0.0`.",
  "upload-length": "Bytes of the whole file.",
  "upload-metadata":
    "tus metadata: names and base64 values, such as `filename`, `filetype`, `vaultId` and `folderId`. Default: none of them.",
  "upload-checksum":
    "Algorithm (`sha256` or `sha1`), a space, and the digest of this body in base64. Default: not checked.",
  "upload-offset": "Where this body begins in the file, in bytes.",

  // Billing, audit, webhooks and events
  plan: "`free` or `pro`.",
  "webhook-id": "Identifier of the payment provider's message.",
  "webhook-timestamp": "When the payment provider sent it, in seconds since 1970.",
  "webhook-signature": "Signature of the payment provider over id, time and body.",
  action: "Lists only this action or group, such as `api_key.created` or `api_key`. Default: every action.",
  url: "Address that receives deliveries: an absolute URL of at most 2,048 characters.",
  events: "Kinds of events to send. `*`: every kind.",
  description: "Note for people to read, at most 500 characters. Default: empty.",
  "webhooks.update.in.url": "New address: an absolute URL of at most 2,048 characters. Default: unchanged.",
  "webhooks.update.in.events": "Kinds of events to send from now on. `*`: every kind. Default: unchanged.",
  "webhooks.update.in.description": "New note, at most 500 characters. Default: unchanged.",
  active: "`false` pauses deliveries, `true` resumes them. Default: unchanged.",
  status: "Lists only deliveries with this status. Default: every status.",
  since: "Sends failed deliveries again from this time on: RFC 3339 in UTC.",
  "webhooks.recover.in.until": "Up to this time: RFC 3339 in UTC. Default: now.",
  after: "Begins after this sequence number. Default: with what happens from now on.",
  "changes.list.in.after": "Begins after this sequence number. Default: with the oldest change that is kept.",
  "changes.list.in.since": "Lists only changes from this time on: RFC 3339 in UTC. Default: from the beginning.",
  "changes.list.in.until": "Lists only changes up to this time: RFC 3339 in UTC. Default: to the end.",
  "changes.list.in.vaultId":
    "Lists only changes in this vault. Members of another account need it. Default: every vault.",
  "changes.list.in.folderId": "Lists only changes of what lies in this folder. Default: every folder.",
  by: "Lists only changes by this actor: the UUID of a key or session, or a chain address. Default: every actor.",
  "changes.list.in.kind": "Lists only this kind or group, such as `file.uploaded` or `file`. Default: every kind.",
  wait: "Seconds to wait for a change where there is none yet, 0 to 50. Default: the list ends with null as cursor.",
  "last-event-id": "Sequence number you saw last. It wins over `after`. Default: `after` counts.",
};
