import type { ByteStreamReader, RemoteParticipant, RemoteTrack, RemoteTrackPublication, Room } from "livekit-client";

import { type Access, Unavailable } from "./access";

const TOPIC = "alicia";
const ATTRIBUTE = "alicia.device";
const PACKET_BYTES = 60_000;
const MAX_BYTES = 1024 * 1024;
const STREAM_PATIENCE = 30_000;

/** What happens in a room. */
export type Arrival =
  /** Bytes from the agent, or bytes that are still on their way; undefined if they never came whole. */
  | { kind: "packet"; data: Uint8Array | Promise<Uint8Array | undefined> }
  /** Another agent is to be spoken to. */
  | { kind: "agentCame" }
  /** The agent hears from now on. */
  | { kind: "agentActive" }
  | { kind: "agentLeft" }
  | { kind: "reconnecting" }
  | { kind: "reconnected" }
  | { kind: "lost"; duplicate: boolean };

/** One stay in a room. */
export interface Link {
  /** The agent's identity, while there is one. */
  readonly agent: string | undefined;
  /** Send to the agent; what does not arrive is sent again by who notices. */
  send(data: Uint8Array): Promise<void>;
  /** Let the agent hear a microphone; resolves with how to end that. The track stays the caller's. */
  publish(track: MediaStreamTrack): Promise<() => Promise<void>>;
  /** Hear the agent: its track now and whenever it has another, undefined when it has none any more. Returns how to end it. */
  listen(hear: (track: MediaStreamTrack | undefined) => void): () => void;
  leave(): Promise<void>;
}

/** Join the room and be visible there, or throw Unavailable. `tell` gets what happens, in order. */
export type Join = (access: Access, tell: (arrival: Arrival) => void) => Promise<Link>;

export const joinRoom: Join = async (access, tell) => {
  // Most of the first load's bytes are LiveKit's, and the page can be read and written on without it.
  const livekit = await import("livekit-client").catch((error: unknown) => {
    throw new Unavailable("A part of the page could not be loaded.", { cause: error });
  });
  const { RoomEvent, ParticipantKind, DisconnectReason } = livekit;
  const room = new livekit.Room({ stopLocalTrackOnUnpublish: true });
  const agents: string[] = [];
  const current = () => agents.at(-1);

  const joined = (participant: RemoteParticipant) => {
    if (participant.kind !== ParticipantKind.AGENT || agents.includes(participant.identity)) return;
    agents.push(participant.identity);
    tell({ kind: "agentCame" });
  };
  room.on(RoomEvent.ParticipantConnected, joined);
  room.on(RoomEvent.ParticipantActive, (participant) => {
    if (participant.identity === current()) tell({ kind: "agentActive" });
  });
  room.on(RoomEvent.ParticipantDisconnected, ({ identity }) => {
    const spokenTo = current();
    if (!agents.includes(identity)) return;
    agents.splice(agents.indexOf(identity), 1);
    if (!current()) tell({ kind: "agentLeft" });
    else if (current() !== spokenTo) tell({ kind: "agentCame" });
  });
  room.on(RoomEvent.DataReceived, (data, sender, _kind, topic) => {
    if (topic === TOPIC && sender && agents.includes(sender.identity)) tell({ kind: "packet", data });
  });
  room.registerByteStreamHandler(TOPIC, (reader, { identity }) => {
    if (agents.includes(identity)) tell({ kind: "packet", data: readStream(reader) });
  });
  room.on(RoomEvent.Reconnecting, () => tell({ kind: "reconnecting" }));
  room.on(RoomEvent.SignalReconnecting, () => tell({ kind: "reconnecting" }));
  room.on(RoomEvent.Reconnected, () => tell({ kind: "reconnected" }));
  room.on(RoomEvent.Disconnected, (reason) =>
    tell({ kind: "lost", duplicate: reason === DisconnectReason.DUPLICATE_IDENTITY }),
  );

  try {
    await room.connect(access.url, access.token, { autoSubscribe: false, maxRetries: 0 });
    // Whoever publishes nothing is announced late, unless something about it changes.
    await room.localParticipant.setAttributes({ [ATTRIBUTE]: access.identity }).catch(() => undefined);
  } catch (error) {
    await room.disconnect();
    throw new Unavailable("The room can't be joined.", { cause: error });
  }
  const present = [...room.remoteParticipants.values()];
  present.sort((one, other) => (one.joinedAt?.getTime() ?? 0) - (other.joinedAt?.getTime() ?? 0)).forEach(joined);

  return {
    get agent() {
      return current();
    },
    send: (data) => send(room, current(), data),
    publish: async (track) => {
      await room.localParticipant.publishTrack(track, { source: livekit.Track.Source.Microphone });
      return async () => void (await room.localParticipant.unpublishTrack(track, false));
    },
    listen: (hear) => {
      let heard: RemoteTrack | undefined;
      const follow = (track: RemoteTrack | undefined) => {
        heard = track;
        hear(track?.mediaStreamTrack);
      };
      const want = (publication: RemoteTrackPublication, { identity }: RemoteParticipant) => {
        if (publication.kind !== livekit.Track.Kind.Audio || !agents.includes(identity)) return;
        // Of what is subscribed to already no event tells.
        if (publication.track) follow(publication.track);
        else publication.setSubscribed(true);
      };
      // A dead agent's track ends late, when another one is heard already.
      const lose = (track: RemoteTrack) => {
        if (track === heard) follow(undefined);
      };
      room.on(RoomEvent.TrackPublished, want).on(RoomEvent.TrackSubscribed, follow).on(RoomEvent.TrackUnsubscribed, lose);
      for (const identity of agents) {
        const agent = room.remoteParticipants.get(identity);
        agent?.trackPublications.forEach((publication) => want(publication, agent));
      }
      return () => {
        room.off(RoomEvent.TrackPublished, want).off(RoomEvent.TrackSubscribed, follow).off(RoomEvent.TrackUnsubscribed, lose);
      };
    },
    leave: async () => {
      room.removeAllListeners();
      await room.disconnect();
    },
  };
};

async function send(room: Room, agent: string | undefined, data: Uint8Array): Promise<void> {
  if (!agent) return;
  const destinationIdentities = [agent];
  try {
    if (data.length <= PACKET_BYTES) {
      const packet = data as Uint8Array<ArrayBuffer>;
      await room.localParticipant.publishData(packet, { reliable: true, destinationIdentities, topic: TOPIC });
      return;
    }
    const writer = await room.localParticipant.streamBytes({
      name: "envelope",
      totalSize: data.length,
      topic: TOPIC,
      destinationIdentities,
    });
    await writer.write(data);
    await writer.close();
  } catch (error) {
    console.info("packet not sent", error);
  }
}

/** All of a stream; undefined if it is too long or the rest never comes: the gap will be noticed. */
async function readStream(reader: ByteStreamReader): Promise<Uint8Array | undefined> {
  try {
    const chunks = await reader.readAll({ signal: AbortSignal.timeout(STREAM_PATIENCE) });
    const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    if (whole.length > MAX_BYTES) return undefined;
    let place = 0;
    for (const chunk of chunks) {
      whole.set(chunk, place);
      place += chunk.length;
    }
    return whole;
  } catch (error) {
    console.info("stream broken off", error);
    return undefined;
  }
}
