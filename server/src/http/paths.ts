import type { EndpointDefinition } from "@coffer/contract";

/** Every path that answers for the endpoint. */
export function pathsOf({ path, aliases = [] }: Pick<EndpointDefinition, "path" | "aliases">): readonly string[] {
  return [path, ...aliases];
}

/** `/api/files/{fileId}` in Fastify's words. */
export function routePathOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
