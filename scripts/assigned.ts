// Prints the table of packages/contract/src/assigned.ts. Run it with the oldest Node that `engines` allows: its ICU has
// the Unicode version that the table is of.
import { UNICODE_VERSION } from "../packages/contract/src/assigned.ts";

if (process.versions.unicode !== UNICODE_VERSION)
  throw new Error(`The table is of Unicode ${UNICODE_VERSION}, and this Node has ${String(process.versions.unicode)}`);

const runs = [0];
let assigned = false;
for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
  if (/\p{Assigned}/u.test(String.fromCodePoint(codePoint)) !== assigned) {
    assigned = !assigned;
    runs.push(0);
  }
  runs[runs.length - 1] = (runs.at(-1) ?? 0) + 1;
}
// What comes after the last assigned code point needs no run.
console.log(
  runs
    .slice(0, assigned ? undefined : -1)
    .map((run) => run.toString(36))
    .join(" "),
);
