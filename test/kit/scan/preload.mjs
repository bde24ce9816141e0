// Loaded with `--import` into every process that tests start, before any code of theirs. Plain JavaScript, since a child may
// run on a Node that cannot read types; there it does nothing.
if (process.features.typescript) await import("./start.ts");
