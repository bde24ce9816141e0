/** What the official conformance suite calls: tools, resources and prompts with the names that its scenarios hold. */
import {
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
  type CallToolResult,
  type ServerContext,
  type ServerNotifier,
} from "@modelcontextprotocol/server";
import { addRounds } from "./rounds.ts";
import { say, STATES, texts } from "./shared.ts";

/** One red pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

export function createFixtures(notify: ServerNotifier): McpServer {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    logging: {},
    completions: {},
  };
  const mcp = new McpServer(
    { name: "coffer-conformance", version: "0.0.0" },
    { capabilities, requestState: { verify: (state, context) => STATES.verify(state, context) } },
  );
  addContents(mcp);
  addMovingTools(mcp, notify);
  addForms(mcp);
  addRounds(mcp);
  addResources(mcp);
  addPrompts(mcp);
  mcp.server.setRequestHandler("logging/setLevel", () => ({}));
  mcp.server.setRequestHandler("completion/complete", () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return mcp;
}

function addContents(mcp: McpServer): void {
  const image = { type: "image", data: PIXEL, mimeType: "image/png" } as const;
  const contents: Readonly<Record<string, CallToolResult["content"]>> = {
    test_simple_text: [{ type: "text", text: "This is a simple text response for testing." }],
    test_image_content: [image],
    test_audio_content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }],
    test_embedded_resource: [
      { type: "resource", resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "embedded" } },
    ],
    test_multiple_content_types: [
      { type: "text", text: "Several kinds follow." },
      image,
      {
        type: "resource",
        resource: { uri: "test://mixed", mimeType: "application/json", text: '{"test":"data","value":123}' },
      },
    ],
    test_streaming_elicitation: [{ type: "text", text: "Nothing was asked." }],
  };
  for (const [name, content] of Object.entries(contents))
    mcp.registerTool(name, { description: `Answers with ${name}` }, () => ({ content }));
  mcp.registerTool("test_error_handling", { description: "Fails" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  mcp.registerTool(
    "test_x_mcp_header",
    {
      description: "Has an argument that a header repeats",
      inputSchema: fromJsonSchema<{ region?: string }>({
        type: "object",
        properties: {
          region: Object.assign({ type: "string" as const }, { "x-mcp-header": "Region" }),
          level: { type: "integer" },
        },
      }),
    },
    ({ region = "none" }) => say(`region ${region}`),
  );
  mcp.registerTool("json_schema_2020_12_tool", { description: "Has a rich schema", inputSchema: RICH }, (args) =>
    say(JSON.stringify(args)),
  );
}

const RICH = fromJsonSchema({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
});

/** Tools that send something before they answer. */
function addMovingTools(mcp: McpServer, notify: ServerNotifier): void {
  const add = (name: string, run: (context: ServerContext) => Promise<CallToolResult>): void => {
    mcp.registerTool(name, { description: `Runs ${name}`, inputSchema: texts() }, (_args, context) => run(context));
  };
  add("test_tool_with_logging", async ({ mcpReq }) => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await mcpReq.notify({ method: "notifications/message", params: { level: "info", data } });
      await pause();
    }
    return say("logged");
  });
  add("test_logging_tool", async ({ mcpReq }) => {
    await mcpReq.log("info", "only for those that asked for a level");
    return say("logged");
  });
  add("test_tool_with_progress", async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken: progressToken ?? "", progress, total: 100 },
      });
      await pause();
    }
    return say(String(progressToken));
  });
  add("test_reconnection", async ({ http }) => {
    http?.closeSSE?.();
    await pause();
    await pause();
    return say("The stream was closed, and this came with the next one.");
  });
  add("test_trigger_tool_change", () => {
    notify.toolsChanged();
    return Promise.resolve(say("announced"));
  });
  add("test_trigger_prompt_change", () => {
    notify.promptsChanged();
    return Promise.resolve(say("announced"));
  });
}

type Schema = Readonly<Record<string, unknown>>;

/** Tools of the 2025 revisions, which send requests of their own. */
function addForms(mcp: McpServer): void {
  const elicit = async (context: ServerContext, message: string, properties: Schema, required: string[]) => {
    const requestedSchema = { type: "object", properties, required };
    const result = await context.mcpReq.send({
      method: "elicitation/create",
      params: { message, requestedSchema },
    });
    return say(`action=${result.action}, content=${JSON.stringify(result.content ?? {})}`);
  };
  mcp.registerTool(
    "test_elicitation",
    { description: "Asks", inputSchema: texts("message") },
    ({ message = "" }, context) => elicit(context, message, { response: { type: "string" } }, ["response"]),
  );
  mcp.registerTool(
    "test_elicitation_sep1034_defaults",
    { description: "Asks", inputSchema: texts() },
    (_args, context) => elicit(context, "Defaults", DEFAULTS, []),
  );
  mcp.registerTool("test_elicitation_sep1330_enums", { description: "Asks", inputSchema: texts() }, (_args, context) =>
    elicit(context, "Choices", CHOICES, []),
  );
  mcp.registerTool(
    "test_sampling",
    { description: "Samples", inputSchema: texts("prompt") },
    async ({ prompt = "" }, context) => {
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: prompt } }];
      const { content } = await context.mcpReq.send({
        method: "sampling/createMessage",
        params: { messages, maxTokens: 100 },
      });
      return say(`LLM response: ${"text" in content ? content.text : ""}`);
    },
  );
}

const DEFAULTS = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};
const titled = (kind: string) =>
  [1, 2, 3].map((at) => ({ const: `value${String(at)}`, title: `${kind} ${String(at)}` }));
const CHOICES = {
  untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
  titledSingle: { type: "string", oneOf: titled("Option") },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
  untitledMulti: {
    type: "array",
    minItems: 1,
    maxItems: 3,
    items: { type: "string", enum: ["option1", "option2", "option3"] },
  },
  titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: titled("Choice") } },
};

function addResources(mcp: McpServer): void {
  const text = (name: string): void => {
    const uri = `test://${name}`;
    const content = { uri, mimeType: "text/plain", text: `The content of ${name}.` };
    mcp.registerResource(name, uri, { mimeType: "text/plain" }, () => ({ contents: [content] }));
  };
  text("static-text");
  text("watched-resource");
  const pixel = { uri: "test://static-binary", mimeType: "image/png", blob: PIXEL };
  mcp.registerResource("static-binary", pixel.uri, { mimeType: pixel.mimeType }, () => ({ contents: [pixel] }));
  mcp.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { mimeType: "application/json" },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  mcp.server.setRequestHandler("resources/subscribe", () => ({}));
  mcp.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

function addPrompts(mcp: McpServer): void {
  const user = (text: string) => ({ role: "user" as const, content: { type: "text" as const, text } });
  mcp.registerPrompt("test_simple_prompt", { description: "Plain" }, () => ({
    messages: [user("This is a simple prompt for testing.")],
  }));
  mcp.registerPrompt(
    "test_prompt_with_arguments",
    { description: "With arguments", argsSchema: texts("arg1", "arg2") },
    ({ arg1 = "", arg2 = "" }) => ({
      messages: [user(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  );
  mcp.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "With arguments", argsSchema: texts("resourceUri") },
    ({ resourceUri: uri = "" }) => ({
      messages: [
        { role: "user", content: { type: "resource", resource: { uri, mimeType: "text/plain", text: "embedded" } } },
        user("Look at the resource above."),
      ],
    }),
  );
  mcp.registerPrompt("test_prompt_with_image", { description: "With an image" }, () => ({
    messages: [
      { role: "user", content: { type: "image", data: PIXEL, mimeType: "image/png" } },
      user("Look at the image above."),
    ],
  }));
}
