// What bench/web.py measures inside the page, by the browser's own means; the client does not know of it.
(() => {
  let wanted = new Uint8Array();
  let enterAt, sentAt, arrivedAt, painted;
  let shifted = 0;

  addEventListener("keydown", (event) => {
    if (event.key === "Enter") enterAt = event.timeStamp;
  }, { capture: true });

  const send = RTCDataChannel.prototype.send;
  RTCDataChannel.prototype.send = function (data) {
    if (enterAt !== undefined) sentAt ??= performance.now();
    return send.call(this, data);
  };

  const listen = (channel) =>
    channel.addEventListener("message", ({ data }) => {
      const now = performance.now();
      if (data instanceof ArrayBuffer && contains(new Uint8Array(data), wanted)) arrivedAt ??= now;
    });
  const Peer = RTCPeerConnection;
  window.RTCPeerConnection = class extends Peer {
    constructor(...given) {
      super(...given);
      this.addEventListener("datachannel", ({ channel }) => listen(channel));
    }
    createDataChannel(...given) {
      const channel = super.createDataChannel(...given);
      listen(channel);
      return channel;
    }
  };

  function contains(all, part) {
    if (!part.length) return false;
    for (let start = all.indexOf(part[0]); start >= 0; start = all.indexOf(part[0], start + 1)) {
      if (part.every((byte, place) => all[start + place] === byte)) return true;
    }
    return false;
  }

  /** The first moment after the next frame has been handed to the screen. */
  const afterPaint = () =>
    new Promise((resolve) => requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now());
      port2.postMessage(undefined);
    }));

  const until = (there) =>
    new Promise((resolve) => {
      const look = () => there() && (observer.disconnect(), resolve());
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, characterData: true });
      look();
    });

  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifted += entry.value;
  }).observe({ type: "layout-shift", buffered: true });

  let frames = [];
  let watching = false;

  window.probes = {
    expect(text) {
      wanted = new TextEncoder().encode(text);
      enterAt = sentAt = arrivedAt = undefined;
      const shown = () => [...document.querySelectorAll(".answer .prose")].at(-1)?.textContent.includes(text);
      painted = until(shown).then(afterPaint);
    },
    share: async () => {
      const end = await painted;
      return sentAt - enterAt + (end - arrivedAt);
    },
    shift: () => shifted,
    bytes: () =>
      [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter(({ name }) => !name.includes("/api/"))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    firstPaint: () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    open: async (id) => {
      const start = performance.now();
      location.hash = `#${id}`;
      await until(() => document.querySelector("[data-id]"));
      return (await afterPaint()) - start;
    },
    watchFrames() {
      frames = [];
      watching = true;
      let last = performance.now();
      const frame = (now) => {
        frames.push(now - last);
        last = now;
        if (watching) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    },
    frames() {
      watching = false;
      return frames.slice(2);
    },
  };
})();
