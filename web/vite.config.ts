import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const server = "http://127.0.0.1:8080";
const WORKER = "sw.js";

/** Tells the service worker which files there are. */
function precache(): Plugin {
  return {
    name: "precache",
    enforce: "post",
    async generateBundle(_, bundle) {
      const files = Object.keys(bundle).filter((name) => name.startsWith("assets/")).sort();
      const worker = bundle[WORKER];
      if (worker?.type !== "chunk" || worker.imports.length) throw new Error("the service worker must be one file");
      const known = ["/alicia.svg", "/manifest.json", ...files.map((name) => `/${name}`)];
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(known.join() + worker.code));
      const build = [...new Uint8Array(digest).slice(0, 6)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      worker.code = worker.code.replaceAll("__FILES__", JSON.stringify(known)).replaceAll("__BUILD__", JSON.stringify(build));
    },
  };
}

export default defineConfig({
  plugins: [react(), precache()],
  // While developing, everything that is not a file of ours comes from a running `alicia up`.
  server: { proxy: { "/api": server, "/healthz": server, "/readyz": server } },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    // LiveKit's client is one file; bench/web.py has a limit for all that is loaded first.
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      input: { index: "index.html", sw: "src/worker/worker.ts" },
      output: { entryFileNames: ({ name }) => (name === "sw" ? WORKER : "assets/[name]-[hash].js") },
    },
  },
  // No test may depend on how busy the machine is.
  test: { include: ["src/**/*.test.{ts,tsx}"], testTimeout: 60_000, hookTimeout: 60_000 },
});
