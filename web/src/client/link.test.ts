import type { RemoteParticipant, RemoteTrack, RemoteTrackPublication, Room } from "livekit-client";
import { LocalParticipant, ParticipantKind, RoomEvent, Track } from "livekit-client";
import { expect, it, vi } from "vitest";

import type { Access } from "./access";
import { joinRoom } from "./link";

const rooms = vi.hoisted((): Room[] => []);

vi.mock("livekit-client", async (original) => {
  const livekit = await original<typeof import("livekit-client")>();
  class Unconnected extends livekit.Room {
    override connect = async () => void rooms.push(this);
  }
  return { ...livekit, Room: Unconnected };
});

/** A link, and the room that it is in, where nobody is yet. */
async function joined() {
  vi.spyOn(LocalParticipant.prototype, "setAttributes").mockResolvedValue();
  const link = await joinRoom({} as Access, () => undefined);
  return { link, room: rooms.at(-1) as Room };
}

/** An agent with a voice comes into the room; returns how its track ends. */
function agentComes(room: Room, identity: string): () => void {
  const track = { mediaStreamTrack: `voice of ${identity}` } as unknown as RemoteTrack;
  const publication = {
    kind: Track.Kind.Audio,
    setSubscribed: () => {
      publication.track = track;
      room.emit(RoomEvent.TrackSubscribed, track, publication, agent);
    },
  } as unknown as RemoteTrackPublication;
  const publications = new Map([["voice", publication]]);
  const agent = { identity, kind: ParticipantKind.AGENT, trackPublications: publications } as unknown as RemoteParticipant;
  room.remoteParticipants.set(identity, agent);
  room.emit(RoomEvent.ParticipantConnected, agent);
  room.emit(RoomEvent.TrackPublished, publication, agent);
  return () => void room.emit(RoomEvent.TrackUnsubscribed, track, publication, agent);
}

it("who listens again in the same room hears the agent at once", async () => {
  const { link, room } = await joined();
  agentComes(room, "agent");
  const hear = vi.fn();
  link.listen(hear)();
  expect(hear.mock.calls).toEqual([["voice of agent"]]);
  link.listen(hear);
  expect(hear.mock.calls).toEqual([["voice of agent"], ["voice of agent"]]);
});

it("who listens no more is told of no other track", async () => {
  const { link, room } = await joined();
  const hear = vi.fn();
  link.listen(hear)();
  agentComes(room, "agent");
  expect(hear).not.toHaveBeenCalled();
});

it("the end of a dead agent's track does not silence its successor", async () => {
  const { link, room } = await joined();
  const hear = vi.fn();
  link.listen(hear);
  const endFirst = agentComes(room, "first");
  const endSecond = agentComes(room, "second");
  endFirst();
  expect(hear.mock.lastCall).toEqual(["voice of second"]);
  endSecond();
  expect(hear.mock.lastCall).toEqual([undefined]);
});
