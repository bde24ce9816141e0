/** `@coffer/devstack/engines`: DEVELOPMENT AND TEST ONLY. A real PostgreSQL and a real S3 store on this machine, which end with their user. */
export { CEPH_PACKAGES, whyNoCeph } from "./ceph/programs.ts";
export { endDaemon, freePort, isInstalled, startDaemon } from "./daemons.ts";
export { openProxy, type Proxy } from "../scale/proxy.ts";
export { createBucket } from "./ceph/bucket.ts";
export { type Ceph, type CephAddress, startCeph } from "./ceph/ceph.ts";
export { openPooler, type Pooler, POOLER_PACKAGE, whyNoPooler } from "./postgres/pooler.ts";
export { type Cluster, clusterAt, joinCluster, openCluster, ready, startCluster } from "./postgres/cluster.ts";
