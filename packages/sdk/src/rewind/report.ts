/** What a rewind says: which acts it goes back over, and what it leaves alone. */
import type { CallOptions } from "../connection/options.ts";
import type { Change } from "../events/changes.ts";

/** What to rewind: the acts of one actor since a time. Name the actor by `keyId` or by `chainAddress`. */
export interface RewindInput {
  /** UUID of the actor's API key, for public vaults. Default: `chainAddress` names the actor. */
  readonly keyId?: string | undefined;
  /** Chain address of the actor. In shared vaults its signatures show what it did. Default: `keyId` names the actor. */
  readonly chainAddress?: string | undefined;
  /** Acts from this time on are undone: RFC 3339. */
  readonly since: string;
  /** Acts up to this time are undone. Default: now. */
  readonly until?: string | undefined;
  /** UUID of a vault. Default: every vault. */
  readonly vaultId?: string | undefined;
  /** true: only the plan, nothing changes. Default: false. */
  readonly dryRun?: boolean | undefined;
}

/** Options of `agents.rewind`. */
export interface RewindOptions extends Pick<CallOptions, "signal"> {
  /** Hears of each step that is done. Default: no function. */
  readonly onStep?: ((step: RewindStep) => void) | undefined;
}

/** A name, and the folder that it is in. */
export interface NamePlace {
  /** Name of the file or folder. */
  readonly name: string;
  /** UUID of the folder that it lies in. null: the top of the vault. */
  readonly parentId: string | null;
}

/** Something that is undone. */
export interface RewindStep {
  /** What the step is about. */
  readonly kind: "file" | "folder";
  /** UUID of the file or folder. */
  readonly id: string;
  /** UUID of its vault. */
  readonly vaultId: string;
  /** Name at the time of the plan. */
  readonly name: string;
  /** `trash`, `restore` from the trash, `move` to a former name and place, or `content`: a former content as a new version. */
  readonly act: "trash" | "restore" | "move" | "content";
  /** The former name and place that a `move` leads back to. null: another act. */
  readonly to: NamePlace | null;
  /** Bytes of the content that returns; 0 for other acts. */
  readonly bytes: number;
}

/** Something that stays as it is, and why. */
export interface RewindLeft {
  /** What it is. */
  readonly kind: "file" | "folder";
  /** UUID of the file or folder. */
  readonly id: string;
  /** UUID of its vault. null: the service does not say. */
  readonly vaultId: string | null;
  /** Name at the time of the plan. null: it cannot be read. */
  readonly name: string | null;
  /** null: nothing of it could be undone. */
  readonly act: RewindStep["act"] | null;
  /**
   * `changed_since`: somebody else changed it afterwards. `not_kept`: its former state is no longer kept. `gone`: it was
   * deleted for good. `not_empty`: the folder holds what others put there. `trashed`: somebody else put it in the trash.
   * In shared vaults also `address_needed`: name the actor by `chainAddress`. `unverified`: nothing that the actor
   * signed shows what the service says. Or the code of an error, such as `not_a_member` or `damaged`.
   */
  readonly reason: string;
}

/** The plan of a rewind and its outcome. */
export interface Rewind {
  /** Whether this is a plan alone. */
  readonly dryRun: boolean;
  /** Changes by the actor in that time. */
  readonly rows: number;
  /** Bytes of content that returns. */
  readonly bytes: number;
  /** How many steps of each act. */
  readonly counts: Readonly<Record<RewindStep["act"], number>>;
  /** With `dryRun`: what would be done. Else what was done. */
  readonly steps: readonly RewindStep[];
  /** What stays as it is, and why. */
  readonly left: readonly RewindLeft[];
  /**
   * With `address_needed` in `left`: the chain address that the service says the key has. The service could name somebody
   * else's, so compare it with the one that you know before you give it as `chainAddress`. null: nothing needs one, or the key has none.
   */
  readonly claimedAddress: string | null;
  /** The actor's acts on vaults, keys and the rest, which are not undone. */
  readonly listed: readonly Change[];
}

export function countsOf(steps: readonly RewindStep[]): Rewind["counts"] {
  const counts = { trash: 0, restore: 0, move: 0, content: 0 };
  for (const { act } of steps) counts[act] += 1;
  return counts;
}

export function bytesOf(steps: readonly RewindStep[]): number {
  return steps.reduce((sum, { bytes }) => sum + bytes, 0);
}
