import { useSyncExternalStore } from "react";

import { Player } from "../../client/player";
import { IconButton } from "../icons";

const player = new Player();

/** Lets stored sounds be heard again, one after the other. */
export function Listen({ ids, label }: { ids: readonly string[]; label: string }) {
  const now = useSyncExternalStore(player.subscribe, player.now);
  const playing = now !== undefined && ids.includes(now);
  if (playing) return <IconButton icon="pause" label="Stop playing" onClick={() => player.stop()} />;
  return <IconButton icon="play" label={label} onClick={() => player.play(ids)} />;
}
