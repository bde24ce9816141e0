/** The part of the interface that every client needs. */
import { filesGroup } from "./files.ts";

/** The endpoints that clients carry with them; the others are modules of their own, loaded when they are first used. */
export const clientApi = { files: filesGroup } as const;
