/** Commits in public vaults: contents go as they are, and nothing is signed. */
import { fileCommitGroup } from "@coffer/contract";
import type { Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { chosenName } from "../http/chosen-name.ts";
import { ContractError, type SdkError } from "../http/errors.ts";
import { tagged } from "../http/tag.ts";
import type { WireFile } from "../storage/file.ts";
import type {
  CommitItem,
  CommitKind,
  CommittedFile,
  FileCommitOptions,
  OpenChange,
  PreparedChange,
} from "./commit-changes.ts";
import { requirePublic } from "./plain-codec.ts";

export class PlainCommit implements CommitKind {
  readonly items: readonly CommitItem[];
  readonly idempotencyKey: string | undefined;

  constructor(items: readonly CommitItem[], idempotencyKey: string | undefined) {
    this.items = items;
    this.idempotencyKey = idempotencyKey;
  }

  /** @throws VaultError `shared_vault` for a client that cannot encrypt; `vault_changed` for a file that this machine has seen elsewhere. */
  static async open(
    connection: Connection,
    vaultId: string,
    changes: readonly OpenChange[],
    { idempotencyKey, signal }: FileCommitOptions,
  ): Promise<PlainCommit> {
    if (connection.sharedVaults === null)
      await requirePublic(connection, { kind: "file", name: null, vaultId }, signal);
    else {
      const { liesIn } = await sharedCode(connection);
      for (const { id } of changes) await liesIn(connection, id, vaultId);
    }
    const items = changes.map((change, at) => {
      // Each upload is a creation of its own. A repeat of the whole commit finds those of before again.
      const key = idempotencyKey === undefined ? undefined : `${idempotencyKey}#held-${String(at)}`;
      return new PlainChange(connection, vaultId, change, key);
    });
    return new PlainCommit(items, idempotencyKey);
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  recover(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** The service's word, as everything here. */
  currentTag({ currentTag }: SdkError): Promise<string | null> {
    return Promise.resolve(currentTag);
  }
}

class PlainChange implements CommitItem {
  readonly id: string;
  readonly #connection: Connection;
  readonly #vaultId: string;
  readonly #change: OpenChange;
  readonly #idempotencyKey: string | undefined;

  constructor(connection: Connection, vaultId: string, change: OpenChange, idempotencyKey: string | undefined) {
    const { commit } = fileCommitGroup;
    this.id = change.id;
    this.#connection = connection;
    this.#vaultId = vaultId;
    this.#change = change.name === undefined ? change : { ...change, name: chosenName(commit.id, change.name) };
    this.#idempotencyKey = idempotencyKey;
  }

  prepare(): Promise<PreparedChange> {
    const { id, ifMatch, name, folderId, trash, contentType, source } = this.#change;
    const change = {
      id,
      ifMatch,
      ...(name === undefined ? {} : { name }),
      ...(folderId === undefined ? {} : { folderId }),
      ...(trash === undefined ? {} : { trash }),
    };
    if (source === null) return Promise.resolve({ change, upload: null });
    const target = { kind: "version", fileId: id, contentType, held: { ifMatch } } as const;
    const idempotencyKey = this.#idempotencyKey;
    return Promise.resolve({
      change,
      upload: { target, bytes: source, contentSize: source.size, idempotencyKey, stored: null },
    });
  }

  /** No statement says whose a change is. */
  findStored(): Promise<null> {
    return Promise.resolve(null);
  }

  async receipt(file: WireFile): Promise<CommittedFile> {
    const { name, folderId, trash, source } = this.#change;
    const isOther =
      (name !== undefined && file.name !== name) ||
      (folderId !== undefined && file.folderId !== folderId) ||
      (file.trashedAt !== null) !== (trash === true);
    if (isOther)
      throw new ContractError("response", fileCommitGroup.commit.id, [`body.files: ${this.id} is not as it was sent`]);
    if (this.#connection.sharedVaults !== null)
      await (await sharedCode(this.#connection)).requireCreated(this.#connection, this.#vaultId, file);
    const content = source === null ? { bytes: null, sha256: null } : { bytes: file.size, sha256: file.sha256 };
    return { file: tagged(file), ...content };
  }
}
