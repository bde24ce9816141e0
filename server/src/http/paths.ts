import type { EndpointDefinition } from "@coffer/contract";

/** Every path that answers for the endpoint. */
export function pathsOf({ path, aliases = [] }: Pick<EndpointDefinition, "path" | "aliases">): readonly string[] {
  return [path, ...aliases];
}

/**
 * Whether a segment of the target's path is empty, as in `/api/webhooks//`: such a path names nothing. The router takes
 * one trailing slash away, and would find an empty id in what is left.
 */
export function hasEmptySegment(target: string): boolean {
  if (!target.includes("//")) return false;
  // RFC 9112 §3.2.2: a request target may be a whole address.
  const [path = ""] = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, "").split("?", 1);
  return path.includes("//");
}

/** `/api/files/{fileId}` in Fastify's words. */
export function routePathOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
