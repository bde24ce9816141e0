/** One file's content under new keys: its version is read, encrypted again and stored on the condition that it is still current. */
import { parseVersionStatement } from "@coffer/crypto";
import { fromBase64, toBase64, toHex } from "../../transfer/digest.ts";
import type { WireFile } from "../../storage/file.ts";
import type { Connection } from "../../connection/options.ts";
import { openItem, placeOf } from "../names/entries.ts";
import { openLatest } from "../names/latest-item.ts";
import type { OpenVault } from "../open-vault.ts";
import { uploadEncrypted } from "../content/encrypted-codec.ts";
import { readFile } from "../content/stored-version.ts";
import { preconditionFailed } from "../service-view.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { versionSource } from "./version-source.ts";
import { WHOLE_BYTES } from "../../transfer/upload-options.ts";
import type { KeptUpload, SourceIdentity } from "../../transfer/journals.ts";

export interface RenewalOptions {
  readonly signal?: AbortSignal | undefined;
  /** Bytes of one part. */
  readonly partBytes?: number | undefined;
}

/**
 * Keeps a content of more than one part over a crash, if the client has a store for it (file-format §5.5). The same
 * call goes on with the parts that the service has. It reads and encrypts them again without sending them, before the
 * old content goes. Only the digest of the whole proves that the service stored what was sent.
 */
export async function renewContent(
  connection: Connection,
  vault: OpenVault,
  file: WireFile,
  { signal, partBytes }: RenewalOptions,
): Promise<void> {
  const { metadata } = await inVaultTerms(() =>
    openLatest(
      file,
      () => readFile(connection, file.id, signal),
      (latest) => {
        if (latest !== file) throw preconditionFailed("It has changed since it was listed");
        return openItem(vault, "file", file, placeOf(file));
      },
    ),
  );
  const journal = file.size > (partBytes ?? WHOLE_BYTES) ? await openJournal(connection, vault, file) : null;
  const source = versionSource(connection, vault, file, { size: metadata.size, signal });
  const target = { kind: "version", file, contentType: metadata.contentType } as const;
  await uploadEncrypted(connection, vault, target, source, { signal, partBytes, padded: isPadded(file), journal });
}

/** Nothing is left to encrypt: forget a begun upload that never ended, because somebody else came first. */
export async function clearContent(connection: Connection, vault: OpenVault): Promise<void> {
  await connection.sharedVaults?.uploads?.clear(workOf(connection, vault));
}

async function openJournal(connection: Connection, vault: OpenVault, file: WireFile): Promise<KeptUpload | null> {
  const { uploads } = connection.sharedVaults ?? {};
  return (await uploads?.open(workOf(connection, vault), `file ${file.id}`, identityOf(file))) ?? null;
}

/** Named after the signing member: another member's upload is not this one's to go on with. */
function workOf({ service, sharedVaults }: Connection, { pin }: OpenVault): string {
  return `rotate ${service.origin} ${pin.chainObjectId ?? ""} ${sharedVaults?.signer.chainAddress ?? ""}`;
}

/** The signed facts of the version, which never change, and the entry that the new one follows. */
function identityOf(file: WireFile): SourceIdentity {
  const { bytes, statement } = statementOf(file);
  return {
    version: file.versionId,
    statement: toBase64(bytes),
    commitment: toHex(statement.commitment),
    length: String(statement.messageLength),
    digest: toHex(statement.digest),
    entry: file.shared?.entry ?? "",
  };
}

function statementOf({ shared }: WireFile) {
  const bytes = fromBase64(shared?.version ?? "") ?? new Uint8Array(0);
  return { bytes, statement: parseVersionStatement(bytes) };
}

/** A content that hid its size still does: bit 0 of the header's flags (file-format §2). */
export function isPadded(file: WireFile): boolean {
  return ((statementOf(file).statement.headerPrefix[10] ?? 0) & 1) === 1;
}
