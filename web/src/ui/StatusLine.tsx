import { useSyncExternalStore } from "react";

import type { View } from "../client/conversation";
import { statusOf } from "./status";

function subscribe(listener: () => void): () => void {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
}

/** One line when something is missing: what, and what Alicia does about it. Always there for screen readers. */
export function StatusLine({ view, reachable }: { view: View; reachable: boolean | undefined }) {
  const online = useSyncExternalStore(subscribe, () => navigator.onLine);
  const status = statusOf(view.connection, reachable, online, view.waiting);
  return (
    <div className="status" role="status" data-tone={status?.tone ?? "calm"} data-state={view.connection.state}>
      {status && (
        <p key={status.what}>
          <span className="beacon" aria-hidden="true" />
          <span>
            <strong>{status.what}</strong> {status.then}
          </span>
        </p>
      )}
    </div>
  );
}
