/** The peer of the PostgreSQL benchmark: the same rows by prepared selects, through a bare Fastify. `node postgres-peer.ts PORT URL FILE` */
import Fastify from "fastify";
import { Pool } from "pg";

const [, , port, connectionString, fileId] = process.argv;
const pool = new Pool({ connectionString, max: 10 });
const { rows } = await pool.query<{ hash: string }>("select hash from api_keys order by created_at limit 1");
const key = { name: "key", text: "select * from api_keys join accounts on accounts.id = account_id where hash = $1" };
const file = { name: "file", text: "select * from files where id = $1" };

const app = Fastify({ logger: false });
app.get("/", async () => {
  await pool.query({ ...key, values: [rows[0]?.hash] });
  return (await pool.query<object>({ ...file, values: [fileId] })).rows[0];
});
await app.listen({ host: "127.0.0.1", port: Number(port) });
process.on("SIGTERM", () => process.exit(0));
