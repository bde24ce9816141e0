/** The smallest Ceph that keeps what it acknowledges: one monitor, one disk, one copy. */
import { join } from "node:path";

/** What the gateway shows over TLS: files of its directory. */
export const CERTIFICATE = "gateway.crt";
export const PRIVATE_KEY = "gateway.key";

export interface CephPlace {
  readonly directory: string;
  readonly id: string;
  readonly monitorPort: number;
  readonly gatewayPort: number;
  readonly securePort: number;
  /** How large the store's file may grow. */
  readonly storeBytes: number;
}

export function renderSettings({ directory, id, monitorPort, gatewayPort, securePort, storeBytes }: CephPlace): string {
  return `[global]
fsid = ${id}
mon_host = v2:127.0.0.1:${String(monitorPort)}
mon_initial_members = a
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_ipv6 = false
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
keyring = ${join(directory, "keyring")}
run_dir = ${directory}
admin_socket = ""
log_file = ${join(directory, "$name.log")}
mon_cluster_log_file = ${join(directory, "cluster.log")}
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 10000
mon_data_avail_warn = 1
mon_data_avail_crit = 0
mon_osd_full_ratio = 0.99
osd_objectstore = bluestore
bluestore_block_size = ${String(storeBytes)}
bluestore_cache_size = 134217728
bluestore_cache_autotune = false
[mon]
mon_data = ${join(directory, "mon")}
[osd]
osd_data = ${join(directory, "osd")}
[client]
rgw_frontends = beast endpoint=127.0.0.1:${String(gatewayPort)} ssl_endpoint=127.0.0.1:${String(securePort)} ssl_certificate=${join(directory, CERTIFICATE)} ssl_private_key=${join(directory, PRIVATE_KEY)} tcp_nodelay=1
rgw_enable_ops_log = false
rgw_enable_usage_log = false
rgw_gc_obj_min_wait = 60
`;
}
