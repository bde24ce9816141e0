/** The peer of the metadata benchmark: the least a Fastify server can do. `node hello.ts PORT` */
import Fastify from "fastify";

const app = Fastify({ logger: false });
app.get("/", (_request, reply) => reply.send({ hello: "world" }));
await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
process.on("SIGTERM", () => process.exit(0));
