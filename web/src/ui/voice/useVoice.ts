import { useCallback, useEffect, useState, useSyncExternalStore } from "react";

import type { Conversation } from "../../client/conversation";
import { Voice, type VoiceView } from "../../client/voice";

export interface VoiceControl {
  voice: Voice;
  view: VoiceView;
  toggle: () => void;
}

/** Speaking in a conversation, as long as it is in view. */
export function useVoice(conversation: Conversation, onBegin: () => void): VoiceControl {
  const [voice] = useState(() => new Voice());
  const view = useSyncExternalStore(voice.subscribe, voice.view);
  const on = view.state === "on";
  useEffect(() => {
    if (!on) return undefined;
    conversation.speak(voice);
    return () => conversation.speak(undefined);
  }, [conversation, voice, on]);
  useEffect(() => () => voice.stop(), [voice]);
  const toggle = useCallback(() => {
    if (voice.view().state !== "off" && voice.view().state !== "trouble") return voice.stop();
    // The agent comes while the browser asks for the microphone.
    conversation.start();
    void voice.start().then((started) => started && onBegin());
  }, [voice, conversation, onBegin]);
  return { voice, view, toggle };
}
