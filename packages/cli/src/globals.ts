/** The values of the flags of every command. */

export interface Globals {
  readonly profile: string | undefined;
  readonly baseUrl: string | undefined;
  readonly json: boolean;
  /** One document for each item. */
  readonly jsonLines: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly noColor: boolean;
  readonly noInput: boolean;
  readonly yes: boolean;
  /** Seconds. */
  readonly timeout: number | undefined;
}

export function globalsOf(values: Readonly<Record<string, unknown>>): Globals {
  const on = (name: string): boolean => values[name] === true;
  const words = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const { timeout } = values;
  return {
    profile: words("profile"),
    baseUrl: words("baseUrl"),
    json: on("json"),
    jsonLines: on("jsonLines"),
    quiet: on("quiet"),
    verbose: on("verbose"),
    noColor: on("noColor"),
    noInput: on("noInput"),
    yes: on("yes"),
    timeout: typeof timeout === "number" ? timeout : undefined,
  };
}
