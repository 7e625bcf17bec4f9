import type { Trouble } from "../../client/microphone";
import { Icon, IconButton } from "../icons";
import { Levels } from "./Levels";
import type { VoiceControl } from "./useVoice";

interface Props {
  control: VoiceControl;
  /** An answer is being made. */
  answering: boolean;
  connected: boolean;
}

const TROUBLES: Record<Trouble, { what: string; then: string }> = {
  insecure: {
    what: "This page can’t use the microphone.",
    then: "Browsers allow it only on secure pages: open Alicia by https, or on the same machine at 127.0.0.1.",
  },
  refused: { what: "The microphone is blocked.", then: "Allow it for this page, beside the address at the top, and try again." },
  missing: { what: "No microphone was found.", then: "Plug one in, or switch it on, and try again." },
  busy: { what: "The microphone does not answer.", then: "Another program may be using it. Close that, and try again." },
};

/** The state of the voice while it is on, or why it can't be. */
export function VoiceBar({ control: { voice, view, toggle }, answering, connected }: Props) {
  if (view.state === "off") return null;
  if (view.state === "trouble") {
    const { what, then } = TROUBLES[view.trouble];
    return (
      <div className="voice trouble" role="alert">
        <Icon name="mute" />
        <p>
          <strong>{what}</strong> {then}
        </p>
        <button type="button" className="quiet" onClick={toggle}>
          Try again
        </button>
        <IconButton icon="close" label="Write instead" onClick={() => voice.stop()} />
      </div>
    );
  }
  const state = stateOf(view, answering, connected);
  return (
    <div className="voice" data-state={state} role="group" aria-label="Voice">
      <Levels voice={voice} />
      <p role="status">{WORDS[state]}</p>
      {view.state === "on" && (
        <>
          {view.devices.length > 1 && (
            <select aria-label="Microphone" value={view.deviceId ?? ""} onChange={(event) => void voice.choose(event.target.value)}>
              {view.devices.map(({ id, label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </select>
          )}
          <IconButton
            icon={view.muted ? "mute" : "mic"}
            label={view.muted ? "Unmute" : "Mute"}
            pressed={view.muted}
            onClick={() => voice.mute(!view.muted)}
          />
        </>
      )}
      <button type="button" className="quiet" onClick={toggle}>
        End
      </button>
    </div>
  );
}

type State = "starting" | "connecting" | "muted" | "speaking" | "thinking" | "listening";

const WORDS: Record<State, string> = {
  starting: "Opening the microphone…",
  connecting: "Connecting…",
  muted: "Muted",
  speaking: "Speaking. Talk to interrupt.",
  thinking: "Thinking…",
  listening: "Listening…",
};

function stateOf(view: { state: "starting" } | { state: "on"; muted: boolean; speaking: boolean }, answering: boolean, connected: boolean): State {
  if (view.state === "starting") return "starting";
  if (!connected) return "connecting";
  if (view.speaking) return "speaking";
  if (view.muted) return "muted";
  return answering ? "thinking" : "listening";
}
