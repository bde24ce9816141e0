import { type Api, endpointsOf } from "@coffer/contract";
import { ServiceError } from "../service-error.ts";
import { pathsOf } from "./paths.ts";

/** Why no route took the request: 405 with Allow when the path is known under other methods, else 404. */
export function createUnmatched(api: Api): (path: string) => ServiceError {
  const paths = endpointsOf(api).flatMap((endpoint) =>
    pathsOf(endpoint).map((path) => ({ method: endpoint.method, pattern: patternOf(path) })),
  );
  return (path) => {
    const methods = paths.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (methods.length === 0) return new ServiceError("not_found");
    return new ServiceError("method_not_allowed", undefined, { headers: { Allow: [...new Set(methods)].join(", ") } });
  };
}

function patternOf(path: string): RegExp {
  const source = path.replaceAll(".", String.raw`\.`).replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${source}/?$`);
}
