/** Content that goes to a public vault: nothing is signed, and nothing is asked of it. */
import { ServiceError } from "../../../service-error.ts";
import { newPlace } from "../../items/changing.ts";
import { DEFAULT_CONTENT_TYPE } from "../rules.ts";
import type { Verifier } from "./verifier.ts";

export const PLAIN: Verifier = {
  write: null,
  leastBytes: 0,
  requireLength: () => undefined,
  hold: (source) => source,
  watch: () => undefined,
  nameColumn: (name) => name ?? null,
  contentType: (sent) => sent,
  findMadeFile: () => Promise.resolve(null),
  refuseEarly: () => Promise.resolve({ ahead: Promise.resolve() }),
  fileColumns: ({ deps: { random } }, { name, contentType }) => {
    if (name === undefined) throw new ServiceError("validation_failed", "name: a name is required");
    return Promise.resolve({
      id: random.uuid(),
      version_id: random.uuid(),
      name,
      content_type: contentType ?? DEFAULT_CONTENT_TYPE,
      encrypted: 0,
      shared_json: null,
    });
  },
  versionColumns: (_changing, { contentType, name = null }, { old, folderId }) => {
    const columns = { content_type: contentType ?? old.content_type, name: name ?? old.name };
    const entry = newPlace(old, { name: columns.name, folderId });
    return Promise.resolve({ columns, how: "replace", entry, authorKey: null });
  },
};
