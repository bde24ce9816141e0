/** What an account holds, as one who writes to it alone can tell: an executable model, step by step. */
import type { Draw } from "../../fuzz/draw.ts";
import { sha256Of } from "../../kit/bytes.ts";

export type Thing =
  | {
      readonly kind: "file";
      readonly id: string;
      readonly name: string;
      readonly folderId: string | null;
      readonly size: number;
      readonly sha256: string;
      readonly trashed: boolean;
    }
  | { readonly kind: "folder"; readonly id: string; readonly name: string }
  | { readonly kind: "key" | "invite"; readonly id: string; readonly name: string; readonly ended: boolean };

export type FileThing = Extract<Thing, { kind: "file" }>;
export type State = readonly Thing[];

/** One request, and what it makes of the state when it happens: all of it, or nothing. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
  readonly bytes?: Uint8Array;
  readonly after: State;
  /** What the audit log says of it. */
  readonly action: string;
  /** It makes something: the id comes with the answer. */
  readonly makes: Thing["kind"] | null;
}

/** Things of the same kind and name are the same thing: names are used once. */
export function renderState(state: State): string {
  const lines = state.map((thing) =>
    JSON.stringify(thing.kind === "folder" ? { ...thing, id: "" } : { ...thing, id: "" }),
  );
  return lines.sort().join("\n");
}

export interface Choosing {
  readonly state: State;
  readonly draw: Draw;
  readonly vaultId: string;
  /** A name that nobody has used. */
  readonly name: string;
}

const LARGEST = 100_000;

/** One of the steps that are possible, most of them on files. */
export function chooseStep(choosing: Choosing): Step {
  const { state, draw } = choosing;
  const file = draw.any(state.filter((thing) => thing.kind === "file"));
  const chance = draw.int(100);
  if (chance < 12) return chooseOther(choosing);
  return file === undefined || chance < 35 ? upload(choosing) : changeFile(choosing, file);
}

function upload({ state, draw, name }: Choosing): Step {
  const bytes = draw.bytes(draw.chance(0.2) ? draw.int(LARGEST) : draw.int(3000));
  const folderId = draw.any(state.filter(({ kind }) => kind === "folder"))?.id ?? null;
  const place = folderId === null ? "" : `&folderId=${folderId}`;
  const file = { id: "", name, folderId, size: bytes.length, sha256: sha256Of(bytes), trashed: false };
  return {
    method: "POST",
    path: `/api/files?name=${name}${place}`,
    bytes,
    makes: "file",
    action: "file.uploaded",
    after: [...state, { kind: "file", ...file }],
  };
}

function changeFile({ state, draw, name }: Choosing, file: FileThing): Step {
  const path = `/api/files/${file.id}`;
  const replaced = (changed: FileThing | null): State =>
    state.flatMap((thing) => (thing !== file ? [thing] : changed === null ? [] : [changed]));
  const purge: Step = {
    method: "DELETE",
    path: `${path}?permanent=true`,
    makes: null,
    action: "file.deleted",
    after: replaced(null),
  };
  if (file.trashed) {
    const restored = replaced({ ...file, trashed: false });
    return draw.chance(0.3)
      ? purge
      : { method: "POST", path: `${path}/restore`, makes: null, action: "file.restored", after: restored };
  }
  const bytes = draw.bytes(draw.int(3000));
  const folderId = draw.any([null, ...state.flatMap(({ kind, id }) => (kind === "folder" ? [id] : []))]) ?? null;
  const update = { makes: null, action: "file.updated" } as const;
  return draw.pick<Step>([
    { method: "PATCH", path, json: { name }, ...update, after: replaced({ ...file, name }) },
    { method: "PATCH", path, json: { name, folderId }, ...update, after: replaced({ ...file, name, folderId }) },
    {
      method: "PUT",
      path: `${path}/content`,
      bytes,
      ...update,
      after: replaced({ ...file, size: bytes.length, sha256: sha256Of(bytes) }),
    },
    { method: "DELETE", path, makes: null, action: "file.trashed", after: replaced({ ...file, trashed: true }) },
    purge,
  ]);
}

function chooseOther(choosing: Choosing): Step {
  const { state, draw, vaultId, name } = choosing;
  const folder = draw.any(state.filter((thing) => thing.kind === "folder"));
  const live = draw.any(state.filter((thing) => (thing.kind === "key" || thing.kind === "invite") && !thing.ended));
  const renamed = state.map((thing) => (thing === folder ? { ...thing, name } : thing));
  const ended = state.map((thing) => (thing === live ? { ...thing, ended: true } : thing));
  const place = { key: "/api/auth/api-keys", invite: "/api/auth/invites" };
  const steps: [Step, ...Step[]] = [
    {
      method: "POST",
      path: "/api/folders",
      json: { vaultId, name },
      makes: "folder",
      action: "folder.created",
      after: [...state, { kind: "folder", id: "", name }],
    },
    {
      method: "POST",
      path: place.key,
      json: { name },
      makes: "key",
      action: "api_key.created",
      after: [...state, { kind: "key", id: "", name, ended: false }],
    },
    {
      method: "POST",
      path: place.invite,
      json: { name, expiresInHours: 1 },
      makes: "invite",
      action: "invite.created",
      after: [...state, { kind: "invite", id: "", name, ended: false }],
    },
  ];
  if (folder !== undefined) {
    const path = `/api/folders/${folder.id}`;
    steps.push({ method: "PATCH", path, json: { name }, makes: null, action: "folder.updated", after: renamed });
  }
  if (live?.kind === "key" || live?.kind === "invite") {
    const action = live.kind === "key" ? "api_key.revoked" : "invite.revoked";
    steps.push({ method: "DELETE", path: `${place[live.kind]}/${live.id}`, makes: null, action, after: ended });
  }
  return draw.pick(steps);
}
