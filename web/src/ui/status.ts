import type { Connection } from "../client/driver";

export interface Status {
  tone: "calm" | "waiting" | "trouble";
  /** What is the matter. */
  what: string;
  /** What Alicia does about it. */
  then: string;
}

/** What to say about the connection, in plain words; undefined when all is well. */
export function statusOf(connection: Connection, reachable: boolean | undefined, online: boolean, waiting: number): Status | undefined {
  const kept = waiting > 0 ? "What you wrote is safe here and will be sent." : "What you write is kept here until then.";
  switch (connection.state) {
    case "online":
      return undefined;
    case "idle":
      return reachable === false ? unreachable(online, kept) : undefined;
    case "connecting":
      return { tone: "waiting", what: "Connecting…", then: "" };
    case "refused":
      return { tone: "trouble", ...refusal(connection) };
    case "away":
      if (connection.missing === "agent") {
        return { tone: "trouble", what: "Alicia is not in the room.", then: `Another agent has been called. ${kept}` };
      }
      return unreachable(online, kept);
  }
}

function unreachable(online: boolean, kept: string): Status {
  if (!online) return { tone: "trouble", what: "You are offline.", then: `Alicia tries again as soon as you are back. ${kept}` };
  return { tone: "trouble", what: "Alicia’s server does not answer.", then: `Trying again every few seconds. ${kept}` };
}

function refusal({ status, reason }: { status: number; reason: string }): { what: string; then: string } {
  switch (status) {
    case 401:
    case 403:
      return { what: "The server wants you to sign in.", then: reason };
    case 404:
      return { what: "This conversation is not on the server.", then: "It may have been deleted. What this browser holds of it is shown." };
    case 409:
      return { what: "This tab was opened again elsewhere.", then: "Reload it to go on here." };
    default:
      return { what: "The server refused.", then: reason };
  }
}
