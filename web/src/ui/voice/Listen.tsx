import { useSyncExternalStore } from "react";

import { Player } from "../../client/player";
import { IconButton } from "../icons";

const player = new Player();

/** Lets stored sounds be heard again, one after the other. */
export function Listen({ ids, label }: { ids: readonly string[]; label: string }) {
  const now = useSyncExternalStore(player.subscribe, player.now);
  const playing = now !== undefined && ids.includes(now);
  return (
    <IconButton icon={playing ? "pause" : "play"} label={playing ? "Stop playing" : label} onClick={() => (playing ? player.stop() : player.play(ids))} />
  );
}
