/** Whether this is `coffer.mjs`, which has the tool server in it. Its build sets the name (tsup.config.ts). */
declare const COFFER_IS_ONE_FILE: boolean | undefined;

export const IS_ONE_FILE = typeof COFFER_IS_ONE_FILE !== "undefined";

/** Its first argument where it is to be the tool server. */
export const TOOL_SERVER_WORD = "mcp-server";
