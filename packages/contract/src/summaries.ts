/**
 * One sentence on each endpoint, for the OpenAPI document. Separate from the endpoints, so that a client in a browser
 * does not carry them. An endpoint without a sentence does not compile.
 */
import type { CofferApi } from "./index.ts";

type IdIn<Group> = Group[keyof Group] extends { readonly id: infer Id extends string } ? Id : never;
export type EndpointId = { [Name in keyof CofferApi]: IdIn<CofferApi[Name]> }[keyof CofferApi];

export const SUMMARIES: Readonly<Record<EndpointId, string>> = {
  "account.get": "The account, the caller's access level and the credential of this call",
  "account.update": "Change the account's name",
  "account.linkChainChallenge":
    "A nonce to sign for linking a chain address: 10 minutes, single use, for this credential only",
  "account.linkChain": "Link the chain address that signed the challenge to the account",
  "auth.signup": "Create an account with an e-mail, a password and an access code, and sign in",
  "auth.login": "Sign in with e-mail and password",
  "auth.refresh": "Exchange a refresh token for a new pair; a second use of one token ends the whole session",
  "auth.logout": "End the session of a refresh token at once; an unknown token is no error",
  "auth.changePassword": "Set a new password and end every other session",
  "auth.forgotPassword": "Mail a reset link if the account exists; the answer is the same either way",
  "auth.resetPassword": "Set a new password with a mailed token, which is used up, and end every session",
  "auth.verifyEmail": "Confirm the e-mail address with a mailed token, which is used up",
  "auth.resendVerification":
    "Mail a new verification link if there is something to verify; the answer is the same either way",
  "auth.checkAccessCode": "Whether a sign-up access code can still be used; using it up is left to the sign-up",
  "sessions.list": "List the live web sessions, newest first",
  "sessions.end": "End a web session at once; a second call changes nothing",
  "identityProvider.authorize": "Begin a sign-in: the identity provider's authorization URL",
  "identityProvider.authorizeZklogin":
    "Begin a zkLogin sign-in with the nonce that the client made of its ephemeral key",
  "identityProvider.callback": "Finish a sign-in: finds or creates the user and opens a session",
  "identityProvider.zkloginToken":
    "zkLogin, step one: exchange the code for the identity token, the salt and the chain address",
  "identityProvider.zkloginAuth": "zkLogin, combined (code and state) or step two (identity token): opens a session",
  "development.signup": "Create an account and an API key without a password; development only, else 404",
  "apiKeys.create": "Create an API key; the raw key is in this answer and nowhere else",
  "apiKeys.list": "List API keys, revoked and expired ones included, newest first",
  "apiKeys.get": "One API key",
  "apiKeys.revoke": "Revoke an API key at once; a second call changes nothing",
  "apiKeys.rotate": "Make a new key with the same rights; the old one ends after overlapHours (default 0: at once)",
  "invites.create": "Create a single-use invite code; the code is in this answer and nowhere else",
  "invites.list": "List invites with their status, newest first",
  "invites.revoke": "Revoke an invite that nobody has used; a second call changes nothing",
  "invites.redeem": "Exchange an invite code for an agent's API key bound to the chain address that signed",
  "vaults.create": "Create a vault",
  "vaults.list": "List vaults, newest first",
  "vaults.get": "One vault",
  "vaults.update": "Rename a vault",
  "vaults.delete":
    "Move a vault to the trash, with force=true also one that is not empty; the owner deletes for good with permanent=true (204). The bytes leave the server's disk 24 hours later",
  "vaults.restore": "Bring a vault back from the trash with all that is in it",
  "members.list": "The vault's members, as the service and the allowlist on the chain see them",
  "members.add": "Record a member that the allowlist on the chain names already; a second call changes nothing",
  "members.remove": "End the record of a member that the allowlist on the chain no longer names",
  "ownership.claim":
    "Take a vault into the account whose chain address owns it on the chain now; a second call changes nothing",
  "deletion.challenge":
    "A nonce to sign before something of a shared vault is deleted: 5 minutes, single use, for this act, object and credential",
  "vaultKeys.list": "The vault's key records, newest first; only members can open them",
  "vaultKeys.publish":
    "Publish the vault key record of the current generation, with steps down to earlier keys, if there is none or the named one is current",
  "vaultKeys.steps": "Steps from vault keys down to earlier ones, those of the newest records first",
  "folderNames.get": "The vault key that a folder's name indexes are made with",
  "folderNames.stage": "Bring a folder's entries under another key; the folder changes once all of them are there",
  "folders.create": "Create a folder at the top of a vault or in another folder",
  "folders.list": "List folders, newest first",
  "folders.get": "One folder",
  "folders.update": "Rename a folder, or move it inside its vault (parentId null: to the top)",
  "folders.delete": "Move a folder and all below it to the trash, in one act",
  "folders.restore": "Bring a folder back from the trash with all that went there with it",
  "folders.entries": "Names and places that a folder had, newest first; the first is the current one",
  "files.upload": "Store the body as a new file; raw bytes of any media type, or one file part of multipart/form-data",
  "files.list": "List files, newest first",
  "files.get": "One file's metadata",
  "files.content": "The bytes, whole or one range (RFC 9110 §14)",
  "files.contentHead": "The headers of the bytes: size, ETag, digest",
  "files.replace":
    "Store the body as the file's new version and keep the old one; If-Match guards against a lost update",
  "files.update": "Rename a file, or move it inside its vault (folderId null: to the top)",
  "files.delete":
    "Move a file to the trash; the owner may delete for good with permanent=true (204). The bytes leave the server's disk 24 hours later",
  "files.restore": "Bring a file back from the trash; to the top of the vault when its folder is gone",
  "files.versions": "Versions of a file, newest first; the first is the current one",
  "files.restoreVersion": "In a public vault: make a kept version's content the newest version again",
  "files.deleteVersion":
    "In a public vault: delete a kept version for good. Its bytes leave the server's disk 24 hours later",
  "files.entries": "Names and places that a file had, newest first; the first is the current one",
  "files.batch":
    "Store up to 100 small files of one vault, each a part with the header Coffer-File (JSON); each has its own result",
  "files.search":
    "Search files by words of their names, type, size, date, author and place; best first, then newest. Names that only members can read are not looked at",
  "files.trashMany": "Move up to 1,000 files and folders to the trash; each has its own result",
  "files.restoreMany": "Bring up to 1,000 files and folders back from the trash; each has its own result",
  "files.moveMany":
    "Move up to 1,000 files and folders inside their vaults (folderId null: to the top); each has its own result",
  "uploads.options": "What the tus server can do (Tus-Version, Tus-Extension, Tus-Max-Size)",
  "uploads.create": "Begin a resumable upload; the body may carry the first bytes",
  "uploads.head": "State of an upload (Upload-Offset: the bytes that are durable)",
  "uploads.append": "Add bytes at the offset; the last ones make the file and answer its id in File-Id",
  "uploads.terminate": "Give the upload up and free its bytes",
  "trash.list": "List the files or the vaults in the trash; they are purged 30 days after they went there",
  "trash.empty":
    "Delete for good the files and folders in the trash of one vault, or of all public ones. The bytes leave the server's disk 24 hours later",
  "billing.get": "The account's plan and subscription",
  "billing.checkout": "Begin to pay for a plan: the payment provider's address; needs a verified e-mail",
  "billing.changePlan": "Change the plan of a paying account; needs a verified e-mail",
  "billing.events": "For the payment provider: a signed event; the same event twice is taken once",
  "audit.list": "The audit log, newest first",
  "system.health": "The process is alive",
  "system.ready": "Database and blob store answer; 503 while starting, stopping or broken",
  "system.metrics": "Prometheus text format; from loopback or with the metrics token",
  "system.openapi": "This contract as OpenAPI 3.1",
  "webhooks.list": "List webhook endpoints, newest first",
  "webhooks.create": "Register a webhook endpoint; its signing secret is in this answer and nowhere else",
  "webhooks.get": "One webhook endpoint",
  "webhooks.update": "Change a webhook endpoint; an inactive one keeps its queue",
  "webhooks.delete": "Delete a webhook endpoint with its deliveries",
  "webhooks.test": "Send a test event now, also to an inactive endpoint, and answer how it went",
  "webhooks.rotateSecret": "Make a new signing secret; the old one signs beside it for 24 hours",
  "webhooks.deliveries": "List an endpoint's deliveries, newest first",
  "webhooks.delivery": "One delivery with its attempts",
  "webhooks.redeliver": "Send a delivery again, with the same webhook-id",
  "webhooks.recover": "Send the failed deliveries of a time range again",
  "webhookEvents.list": "The kinds of events, each with the JSON Schema of its payload and an example",
  "changes.list": "The change feed, oldest first: pages of it, or a request that waits for the next change",
  "events.stream": "Server-sent events as they happen, resumable by sequence number",
};
