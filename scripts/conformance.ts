/** `npm run conformance -- <url>`: the contract against any live server. SERVICE_API_KEY: an owner's key to use. */
import { runConformance } from "../test/conformance/run.ts";
import { renderReport } from "../test/conformance/report.ts";

const baseUrl = process.argv[2];
if (baseUrl === undefined || !URL.canParse(baseUrl)) {
  console.error("usage: npm run conformance -- <url>   (SERVICE_API_KEY: an owner's key; without it, dev-signup)");
  process.exit(2);
}
const apiKey = process.env.SERVICE_API_KEY;
const report = await runConformance({ baseUrl, ...(apiKey === undefined ? {} : { apiKey }) });
console.log(renderReport(report));
process.exitCode = report.findings.length === 0 ? 0 : 1;
