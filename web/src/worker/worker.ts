/** The service worker: keeps the page's own files, so that it opens without a server. Data is the page's affair. */

declare const self: ServiceWorkerGlobalScope;
/** The files of this build, and a name that changes with them; the build fills them in. */
declare const __FILES__: readonly string[];
declare const __BUILD__: string;

const FILES = __FILES__;
const PREFIX = "alicia-";
const NAME = PREFIX + __BUILD__;
const PATIENCE = 3_000;

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(NAME).then((cache) => cache.addAll([new Request("/", { cache: "reload" }), ...FILES])),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(forgetOlder().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate" && pathname === "/") event.respondWith(openPage(request));
  else if (FILES.includes(pathname)) event.respondWith(openFile(request));
});

/** The newest page, and without a server the one that is kept. */
async function openPage(request: Request): Promise<Response> {
  try {
    return await fetch(request, { signal: AbortSignal.timeout(PATIENCE) });
  } catch (error) {
    const kept = await caches.match("/", { cacheName: NAME });
    if (kept) return kept;
    throw error;
  }
}

/** Files are named by what is in them, so a kept one is the right one. */
async function openFile(request: Request): Promise<Response> {
  return (await caches.match(request, { cacheName: NAME })) ?? fetch(request);
}

async function forgetOlder(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== NAME).map((name) => caches.delete(name)));
}

// A file without an import or export would share its names with all others.
export {};
