/**
 * Modules that clients load when they first need them. A re-export would draw them into the first chunk of a bundle,
 * because bundlers follow it even if it is unused. So clients import the modules themselves, by the paths of
 * package.json.
 */
import * as auditChain from "./audit-chain.ts";
import * as audit from "./audit.ts";
import * as auditText from "./audit-text.ts";
import * as auth from "./auth.ts";
import * as billing from "./billing.ts";
import * as deletion from "./deletion.ts";
import * as eventKinds from "./event-kinds.ts";
import * as events from "./events.ts";
import * as identityProvider from "./identity-provider.ts";
import * as invites from "./invites.ts";
import * as keyText from "./key-text.ts";
import * as proofTexts from "./proof-texts.ts";
import * as sharedStatements from "./shared-statements.ts";
import * as sharedVaults from "./shared-vaults.ts";
import * as trash from "./trash.ts";
import * as uploads from "./uploads.ts";
import * as webhooks from "./webhooks.ts";

export type { AuditCheck, AuditFault, AuditKnown, AuditLink } from "./audit-chain.ts";
export const FIRST_PREVIOUS_HASH = auditText.FIRST_PREVIOUS_HASH;
export const renderAuditText = auditText.renderAuditText;
export const checkAuditChain = auditChain.checkAuditChain;
export const renderKeyAddressText = proofTexts.renderKeyAddressText;
export const renderDeletionText = proofTexts.renderDeletionText;
export const renderLinkText = proofTexts.renderLinkText;
export const renderRedeemText = proofTexts.renderRedeemText;
export const isInviteCode = keyText.isInviteCode;
export const isKeyText = keyText.isKeyText;
export const renderInviteCode = keyText.renderInviteCode;
export const renderKey = keyText.renderKey;

export type { EventKind } from "./event-kinds.ts";
export type { EventObject, WebhookEvent } from "./events.ts";
export type { Delivery, DeliveryAttempt, Webhook } from "./webhooks.ts";
export const EVENT_KINDS = eventKinds.EVENT_KINDS;
export const EVERY_EVENT = eventKinds.EVERY_EVENT;
export const isEventKind = eventKinds.isEventKind;
export const isSubscribed = eventKinds.isSubscribed;
export const eventSchema = events.eventSchema;
export const DELIVERY_DAYS = webhooks.DELIVERY_DAYS;
export const MAX_ATTEMPTS = webhooks.MAX_ATTEMPTS;
export const MAX_WEBHOOK_URL = webhooks.MAX_WEBHOOK_URL;
export const SECRET_OVERLAP_HOURS = webhooks.SECRET_OVERLAP_HOURS;

export type { SharedEntry, SharedFile } from "./shared-entries.ts";
export type { VaultKeyRecord, VaultMember } from "./shared-vaults.ts";
export const ENTRY_KINDS = sharedStatements.ENTRY_KINDS;
export const ENTRY_STATEMENT = sharedStatements.ENTRY_STATEMENT;
export const EXPORT_STATEMENT = sharedStatements.EXPORT_STATEMENT;
export const FILE_MAGIC = sharedStatements.FILE_MAGIC;
export const KEY_RECORD = sharedStatements.KEY_RECORD;
export const SIGNATURE_BYTES = sharedStatements.SIGNATURE_BYTES;
export const SIBLING_BYTES = sharedStatements.SIBLING_BYTES;
export const UPLOAD_TITLE = sharedStatements.UPLOAD_TITLE;
export const VERSION_STATEMENT = sharedStatements.VERSION_STATEMENT;
export const MAX_MEMBERS = sharedVaults.MAX_MEMBERS;
export const MAX_STAGED = sharedVaults.MAX_STAGED;

export const AUDIT_DAYS = audit.AUDIT_DAYS;
export const DELETION_MINUTES = deletion.DELETION_MINUTES;
export const auditEvent = audit.auditEvent;
export const ACCESS_TOKEN_SECONDS = auth.ACCESS_TOKEN_SECONDS;
export const PASSWORD_LENGTH = auth.PASSWORD_LENGTH;
export const REFRESH_TOKEN_DAYS = auth.REFRESH_TOKEN_DAYS;
export const SESSION_DAYS = auth.SESSION_DAYS;
export const INVITE_HOURS = invites.INVITE_HOURS;
export const PLANS = billing.PLANS;
export const SIGN_IN_MINUTES = identityProvider.SIGN_IN_MINUTES;
export const TRASH_DAYS = trash.TRASH_DAYS;
export const TUS_CHECKSUMS = uploads.TUS_CHECKSUMS;
export const TUS_EXTENSIONS = uploads.TUS_EXTENSIONS;
export const TUS_PART_TYPE = uploads.TUS_PART_TYPE;
export const TUS_VERSION = uploads.TUS_VERSION;
