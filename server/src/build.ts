/** Which release this is, and of which commit: what `--version` and the metric `coffer_build_info` say. */

/** Put in by `npm run release:server`. */
declare const COFFER_BUILD: string | undefined;

export const VERSION = "0.1.0";

/** The commit that the release was made from; `source` where the sources run. */
export const BUILD = typeof COFFER_BUILD === "string" ? COFFER_BUILD : "source";

export const describeBuild = (): string => `coffer-server ${VERSION} (build ${BUILD}, Node ${process.version})`;
