import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react()],
  // While developing, everything that is not a file of ours comes from a running `alicia up`.
  server: { proxy: { "/api": server, "/healthz": server, "/readyz": server } },
  build: { target: "es2022", modulePreload: { polyfill: false } },
  test: { include: ["src/**/*.test.{ts,tsx}"] },
});
