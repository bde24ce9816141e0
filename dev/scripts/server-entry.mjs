// The first file of a released server. Plain JavaScript that every Node reads: one that is too old is told in a sentence, with the exit
// status after which systemd does not try again.
const NEEDED = [24, 7];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) {
  await import(new URL("main.js", import.meta.url));
} else {
  process.stderr.write(
    `coffer-server needs Node ${NEEDED.join(".")} or newer, and this is Node ${process.versions.node} at ${process.execPath}: start bin/coffer-server, which brings its own\n`,
  );
  process.exitCode = 78;
}
