# The bundled worker in two ages of workerd: from the first date on, it takes no credential along to another origin; from the second one on, it
# looks like Node. Outgoing requests go to loopback alone.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "earlier", worker = .earlier),
    (name = "later", worker = .later),
    (name = "guide", worker = .guide),
    (name = "internet", network = (allow = ["local"])),
  ],
  sockets = [
    (name = "earlier", address = "127.0.0.1:0", http = (), service = "earlier"),
    (name = "later", address = "127.0.0.1:0", http = (), service = "later"),
    (name = "guide", address = "127.0.0.1:0", http = (), service = "guide"),
  ],
);

const earlier :Workerd.Worker = (modules = .modules, bindings = .bindings, compatibilityDate = "2025-09-01");
const later :Workerd.Worker = (modules = .modules, bindings = .bindings, compatibilityDate = "2026-08-04");

# The worker of docs/guides/workers.md.
const guide :Workerd.Worker = (
  modules = [(name = "guide.js", esModule = embed "out/guide.js")],
  bindings = .bindings,
  compatibilityDate = "2025-09-01",
);

const modules :List(Workerd.Worker.Module) = [(name = "worker.js", esModule = embed "out/worker.js")];
const bindings :List(Workerd.Worker.Binding) = [
  (name = "SERVICE_BASE_URL", fromEnvironment = "SERVICE_BASE_URL"),
  (name = "SERVICE_API_KEY", fromEnvironment = "SERVICE_API_KEY"),
  (name = "SERVICE_CHAIN_PRIVATE_KEY", fromEnvironment = "SERVICE_CHAIN_PRIVATE_KEY"),
  (name = "NETWORK", fromEnvironment = "NETWORK"),
  (name = "REDIRECTING_URL", fromEnvironment = "REDIRECTING_URL"),
  (name = "WEBHOOK_SECRET", fromEnvironment = "WEBHOOK_SECRET"),
];
