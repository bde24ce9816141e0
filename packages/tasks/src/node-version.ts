/** The first thing that a program asks: on a Node that is too old it would end with a stack at its first line. */

/** What the published packages promise to run on (`engines` of their package.json). */
const OLDEST = { major: 22, minor: 18 };

/** A sentence for the user when this Node is too old, else null. */
export function oldNodeSentence(program: string, { version, path }: { version: string; path: string }): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return null;
  const needed = `${String(OLDEST.major)}.${String(OLDEST.minor)}`;
  return `${program}: needs Node ${needed} or newer, and this is Node ${version} at ${path}. Install a newer one, or run ${program} with it`;
}
