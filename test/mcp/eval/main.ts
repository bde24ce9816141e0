/**
 * `npm run eval:mcp [-- WORD …] [--json]`: what people ask an agent for, done by a scripted agent with the real tool server, and
 * verified by the SDK and on the disk. Words choose tasks by their names.
 */
import { parseArgs } from "node:util";
import { renderReport, renderTask, runTasks, TASKS } from "./run.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false } },
});
const chosen = TASKS.filter(({ name }) => positionals.every((word) => name.includes(word)));
if (chosen.length === 0) {
  console.error(`no task has these words; there are: ${TASKS.map(({ name }) => name).join("; ")}`);
  process.exit(2);
}
console.error(`${String(chosen.length)} tasks: starting a service, a local chain and tool servers …`);
const reports = await runTasks(chosen, (report) => {
  if (!values.json) console.log(renderTask(report));
});
console.log(values.json ? JSON.stringify(reports, null, 2) : renderReport(reports));
process.exitCode = reports.every(({ problem }) => problem === null) ? 0 : 1;
