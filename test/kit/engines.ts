export {
  endDaemon,
  freePort,
  isInstalled,
  joinCluster,
  openCluster,
  openPooler,
  type Pooler,
  startDaemon,
  whyNoPooler,
} from "@coffer/devstack/engines";

/** For tests that need an engine of the system's: `why` says what is missing here. Where engines are required, they run and fail. */
export function skipWithout(why: string | null, context: { skip(reason: string): void }): void {
  if (why !== null && process.env["COFFER_TEST_ENGINES"] !== "required") context.skip(why);
}
