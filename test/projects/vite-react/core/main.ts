import { createClient } from "@coffer/sdk";

createClient({ baseUrl: "https://coffer.example.com" });
