/**
 * `npm run conformance -- <url>`: the contract against any live server. SERVICE_API_KEY: an owner's key to use.
 * SERVICE_ACCESS_CODE: a sign-up code of two uses or more; without it sign-up is tried as a refusal alone.
 * SERVICE_CHAIN_NETWORK: the chain that the server is on; default: localnet for a server on this machine, else
 * mainnet.
 */
import { CHAIN_NETWORKS } from "@coffer/contract";
import { runConformance } from "../../test/conformance/run.ts";
import { renderReport } from "../../test/conformance/report.ts";

const baseUrl = process.argv[2];
if (baseUrl === undefined || !URL.canParse(baseUrl)) {
  console.error(
    "usage: npm run conformance -- <url>   (SERVICE_API_KEY: an owner's key; without it, dev-signup; SERVICE_ACCESS_CODE: for sign-ups)",
  );
  process.exit(2);
}
const apiKey = process.env.SERVICE_API_KEY;
const accessCode = process.env.SERVICE_ACCESS_CODE;
const network = CHAIN_NETWORKS.find((name) => name === process.env.SERVICE_CHAIN_NETWORK);
const report = await runConformance({
  baseUrl,
  ...(apiKey === undefined ? {} : { apiKey }),
  ...(accessCode === undefined ? {} : { accessCode }),
  ...(network === undefined ? {} : { network }),
});
console.log(renderReport(report));
process.exitCode = report.findings.length === 0 ? 0 : 1;
