import { section } from "../requirement.ts";

const UPLOADS = [
  "D5-upload-raw: POST /api/files?vaultId&folderId&name with a raw body of any media type answers 201 { file }.",
  "D5-upload-multipart: The same upload takes multipart.",
  "D5-upload-digest: Content-Digest and Repr-Digest are verified.",
  "D5-upload-if-none-match: If-None-Match: * guards against an existing name.",
  "D5-replace: PUT /api/files/{fileId}/content makes a new version.",
  "D5-replace-if-match: If-Match guards the new version.",
  "D5-replace-event: A new version emits file.updated.",
  "D5-replace-change: A new version writes a file.updated change.",
  "D5-tus-file-id: tus takes fileId in its metadata for a new version.",
  "D5-one-vault: Every file and folder belongs to exactly one vault; folders do not cross vaults.",
  'D5-default-vault: An account gets a public vault "Files" at creation, used when vaultId is absent.',
  "D5-vault-names-clear: Vault names are in the clear.",
  "D5-tus: tus 1.0.0 at /api/uploads: POST, HEAD, PATCH, DELETE.",
  "D5-tus-metadata: Upload-Metadata: filename, filetype, vaultId, folderId.",
  "D5-tus-offset-conflict: A wrong offset is 409.",
  "D5-tus-checksum: A wrong checksum is 460.",
  "D5-tus-expired: An upload expires after 24 h: 410.",
  "D5-tus-locked: An upload that another request writes is 423.",
  "D5-tus-file-id-header: A finished upload answers its file id in File-Id.",
];

const FILES = [
  "D5-list: GET /api/files?vaultId&folderId&trashed=false&limit&cursor&name answers { files, nextCursor }.",
  "D5-file-shape: GET /api/files/{fileId} answers { file } with id, versionId, name, size, contentType, sha256 …",
  "D5-content-get: GET and HEAD /api/files/{fileId}/content answer the bytes and their headers.",
  'D5-content-etag: The ETag is "sha256-<b64url>"; If-None-Match answers 304.',
  "D5-content-range: Range, If-Range and 416.",
  "D5-content-digest: Repr-Digest is sent.",
  "D5-content-disposition: Content-Disposition follows RFC 6266.",
  "D5-content-sandbox: nosniff and a sandbox CSP are sent.",
  "D5-update: PATCH /api/files/{fileId} { name?, folderId? } with If-Match answers { file }.",
  "D5-revision: revision on files and folders; If-Match on PATCH compares it, and the content's ETag does not change with it.",
  "D5-delete-soft: DELETE /api/files/{fileId} is soft: 200 { file } with trashedAt.",
  "D5-delete-permanent: The owner's ?permanent=true is 204.",
  "D5-restore: POST /api/files/{fileId}/restore brings it back.",
  "D5-trash: GET /api/trash lists; DELETE empties (owner).",
  "D5-trash-purge: The trash is purged after 30 days.",
  "D5-versions-list: GET /api/files/{fileId}/versions lists number, versionId, size, sha256, author, how, createdAt.",
  "D5-versions-content: Content by ?versionId=.",
  "D5-versions-restore: POST …/versions/{versionId}/restore makes a new version of an old one.",
  "D5-versions-delete: DELETE …/versions/{versionId} (owner) is 204.",
  "D5-versions-kept: Versions are kept 30 days, up to 365 by keepVersionsDays; beyond 100 only the newest author's own are dropped.",
  "D5-batch: POST /api/files/batch stores up to 100 files and 8 MiB, each with its own result, all durable before the answer.",
  "D5-batch-shared: A batch carries the statements of files of a shared vault.",
  "D5-author: createdBy, updatedBy on files and folders, author on versions; of another account's member the address alone.",
  "D5-entries: GET /api/files/{fileId}/entries, and of folders: names and places before, with author, time and how, newest first.",
  "D5-entries-kept: Entries are kept as long as versions; the newest is never dropped; beyond 100 only the newest author's own are.",
  "D5-author-verified: In shared vaults the SDK shows the address that signed, marked verified, and never what the service says.",
  "D5-versions-not-kept: PUT …/content?keep=false keeps none, owner only; versions count in storage, shown apart.",
];

const FOLDERS_AND_VAULTS = [
  "D5-folders-paths: GET, POST /api/folders; GET, PATCH, DELETE /api/folders/{folderId}.",
  "D5-folder-delete: Deleting a folder moves its subtree to the trash in one transaction.",
  "D5-vaults-paths: GET, POST /api/vaults; GET, PATCH, DELETE /api/vaults/{vaultId}.",
  "D5-vault-delete: Deleting a vault that is not empty is 409 unless ?force=true.",
  "D5-vault-trash: A deleted vault goes to the trash for 30 days: 200 { vault } with trashedAt, listed, restored, purged then or with ?permanent=true.",
  "D5-owner-proof: Deletion, purge, permanent deletion of a file, and the trash of a shared vault need the owner's proof over a challenge.",
  "D5-empty-all: Emptying all trash leaves shared vaults alone and names them.",
  'D5-shared-unavailable: type "shared" before shared vaults exist: 400 "shared vaults are not available on this server".',
  "D5-isolation-404: Whoever has nothing to do with a vault gets 404.",
  "D5-isolation-members: A recorded member has an agent's rights; without membership 403 not_a_member.",
  "D5-shared-names: Names travel only inside encrypted metadata; name in a query or tus metadata is 400.",
  "D5-shared-ciphertext: Size, ETag and digest are of the ciphertext; content answers bytes with our magic or nothing.",
  "D5-shared-authorised: Non-owners are authorised against the chain object, at most 10 s old, refused when the chain is silent.",
  "D5-shared-one-object: One service vault per chain object, registered by the object's owner.",
  "D5-shared-upload: A shared upload carries statements, encrypted metadata, nameIndex and generation.",
  "D5-vault-keys: GET, POST /api/vaults/{vaultId}/keys: compare-and-set per generation.",
  "D5-members: GET, POST /api/vaults/{vaultId}/members, DELETE …/members/{chainAddress}.",
];

const WHOLE_FOLDERS = [
  "D5-folder-there-and-back: uploadFolder and downloadFolder move a tree in one call, empty folders too, with a receipt for each file.",
  "D5-folder-unchanged: What is unchanged is skipped by size and time against the journal, by digest where those differ.",
  "D5-folder-failures: Failures of single files are named, and the others go on.",
  "D5-folder-resumed: A call that was killed or aborted is finished by the next one, which sends only the rest.",
  "D5-folder-contained: Nothing outside of the directory is read or written, whatever links and names there are.",
  "D5-folder-sync: syncFolder makes one side like the other, by a plan; deletions go to the trash only when asked.",
];

/** Rows of the decisions that later work brings. */
const LATER = [
  "D5-versions-shared (pending: versions): Versions of shared vaults: listed, kept and restored as those of public ones, by the client.",
  "D5-search (pending: search): GET /api/files/search over public vaults and plain names answers { files, nextCursor, complete }.",
  "D5-batch-upload (pending: batch): POST /api/files/batch: multipart, at most 100 files and 8 MiB, each its own outcome.",
  "D5-batch-acts (pending: batch): POST /api/files/{trash,restore,move} with up to 1,000 ids, in order, durable before the answer.",
  "D5-ladder (pending: ladder): GET, PUT /api/vaults/{vaultId}/ladder: steps by from and to place; a member's PUT replaces one.",
  "D5-id-prefix (pending: short-ids): idPrefix (8 or more hex digits) on the lists of files, folders and vaults.",
  "D5-member-until (pending: member-ends): POST …/members takes until, a whole quarter of an hour, as the chain has it; others are 400.",
];

export const decisionsFiles = section("decisions §5", [
  ...UPLOADS,
  ...FILES,
  ...FOLDERS_AND_VAULTS,
  ...WHOLE_FOLDERS,
  ...LATER,
]);
