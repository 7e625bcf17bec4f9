import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const server = "http://127.0.0.1:8080";

// The page obeys only its own scripts. Connections are free, since LiveKit may stand on another host or port, which
// only the server knows.
const POLICY = [
  "default-src 'self'",
  "connect-src 'self' http: https: ws: wss:",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Not while developing: Vite's own helpers are inline scripts. */
const contentSecurityPolicy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
  ],
};

export default defineConfig({
  plugins: [react(), contentSecurityPolicy],
  // While developing, everything that is not a file of ours comes from a running `alicia up`.
  server: { proxy: { "/api": server, "/healthz": server, "/readyz": server } },
  build: { target: "es2022", modulePreload: { polyfill: false } },
  test: { include: ["src/**/*.test.{ts,tsx}"] },
});
