/** What earlier answers made: ids, tags and cursors, so that later requests reach real objects. */
import { type Received, parseJson } from "../conformance/judge.ts";
import type { Draw } from "./draw.ts";

/** Names a kind of thing by the field that carries it. */
export type Kind =
  | ("vaultId" | "folderId" | "fileId" | "uploadId" | "keyId" | "inviteId" | "sessionId" | "cursor" | "etag")
  /** Codes and tokens: of invites, sign-ups, sessions, mails, started sign-ins and challenges. */
  | ("inviteCode" | "accessCode" | "refreshToken" | "verifyToken" | "resetToken" | "state" | "nonce")
  | ("email" | "accountId")
  /** `delivery` and `version` are the parts of a path that name one with its endpoint or its file. */
  | ("webhookId" | "webhookUrl" | "delivery" | "version");

export interface Pool {
  add(kind: Kind, value: string): void;
  draw(kind: Kind, draw: Draw): string | undefined;
  /** Takes in what an answer to the request for `target` made. */
  harvest(answer: Received, target: string): void;
}

const KIND_OF_FIELD: Readonly<Record<string, Kind>> = {
  vault: "vaultId",
  vaults: "vaultId",
  folder: "folderId",
  folders: "folderId",
  file: "fileId",
  files: "fileId",
  apiKey: "keyId",
  apiKeys: "keyId",
  invites: "inviteId",
  sessions: "sessionId",
  webhook: "webhookId",
  webhooks: "webhookId",
};
/** Texts that an answer holds at its top. */
const KIND_OF_TEXT: Readonly<Record<string, Kind>> = {
  nextCursor: "cursor",
  code: "inviteCode",
  refreshToken: "refreshToken",
  state: "state",
  nonce: "nonce",
};
/** Newer objects live longer than older ones; old ids are dropped. */
const KEPT = 60;

/** `untouched` are ids that no request may use: the keys that the run itself works with. */
export function openPool(untouched: ReadonlySet<string>): Pool {
  const known = new Map<Kind, string[]>();
  const add = (kind: Kind, value: string) => {
    if (untouched.has(value)) return;
    const values = (known.get(kind) ?? []).filter((other) => other !== value);
    known.set(kind, [...values, value].slice(-KEPT));
  };
  const addObject = (kind: Kind, object: unknown) => {
    if (typeof object === "object" && object !== null && "id" in object && typeof object.id === "string")
      add(kind, object.id);
  };
  return {
    add,
    draw: (kind, draw) => draw.any(known.get(kind) ?? []),
    harvest(answer, target) {
      harvestHeaders(answer.headers, add);
      const value = answer.status < 300 ? parseJson(answer.body) : undefined;
      if (typeof value !== "object" || value === null) return;
      for (const [field, content] of Object.entries(value)) {
        const kind = KIND_OF_FIELD[field];
        const text = KIND_OF_TEXT[field];
        if (text !== undefined && typeof content === "string") add(text, content);
        else if (kind !== undefined)
          for (const object of Array.isArray(content) ? content.slice(0, 3) : [content]) addObject(kind, object);
      }
      for (const delivery of deliveriesIn(value, target)) add("delivery", delivery);
      for (const version of versionsIn(value, target)) add("version", version);
      if ("key" in value) addObject("keyId", value);
      if ("code" in value) addObject("inviteId", value);
    },
  };
}

/** A delivery's id says nothing without its endpoint's, which stands in the path of what was asked. */
function deliveriesIn(value: object, target: string): string[] {
  const webhookId = /^\/api\/webhooks\/([0-9a-f-]{36})\//.exec(target)?.[1];
  if (webhookId === undefined) return [];
  const { delivery, deliveries } = value as { delivery?: unknown; deliveries?: unknown };
  const found: unknown[] = Array.isArray(deliveries) ? deliveries.slice(0, 3) : [delivery];
  return found.flatMap((one) =>
    typeof one === "object" && one !== null && "id" in one ? [`${webhookId}/deliveries/${String(one.id)}`] : [],
  );
}

/** The current one is the first: kept ones can be restored and deleted. */
function versionsIn(value: object, target: string): string[] {
  const fileId = /^\/api\/files\/([0-9a-f-]{36})\/versions/.exec(target)?.[1];
  const { versions } = value as { versions?: unknown };
  if (fileId === undefined || !Array.isArray(versions)) return [];
  return versions.slice(1, 4).map((one: { versionId: string }) => `${fileId}/versions/${one.versionId}`);
}

function harvestHeaders(headers: Headers, add: (kind: Kind, value: string) => void): void {
  const etag = headers.get("etag");
  if (etag !== null) add("etag", etag);
  const upload = /\/api\/uploads\/([0-9a-f-]{36})$/.exec(headers.get("location") ?? "")?.[1];
  if (upload !== undefined) add("uploadId", upload);
  const file = headers.get("file-id");
  if (file !== null) add("fileId", file);
}

export interface Sources {
  readonly draw: Draw;
  readonly pool: Pool;
  /** What another account made. */
  readonly foreign: Pool;
  /** When the run began, in milliseconds since the Unix epoch: what is drawn does not depend on the moment. */
  readonly now: number;
  /** Bearer keys, the likeliest first. */
  readonly keys: readonly [string, ...string[]];
}

export type Fields = Record<string, unknown>;
