// Prints the table of packages/contract/src/assigned-code-points.ts. Run it with the oldest Node that `engines` allows: its ICU has
// the Unicode version that the table is of.
console.error(`Unicode ${String(process.versions.unicode)}: set UNICODE_VERSION beside the table to it`);

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
