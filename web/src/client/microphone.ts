/** Why nothing can be heard, for words to be found for it. */
export type Trouble = "insecure" | "refused" | "missing" | "busy";

/** The microphone can't be had. */
export class NoMicrophone extends Error {
  override readonly name = "NoMicrophone";

  constructor(readonly trouble: Trouble) {
    super(`no microphone: ${trouble}`);
  }
}

export interface Device {
  readonly id: string;
  readonly label: string;
}

/** How loud a track is, from 0 to 1. */
export interface Meter {
  level(): number;
  close(): void;
}

/** What voice needs of the browser, so that tests can do without one. */
export interface Sound {
  /** Open a microphone, if need be any. Throws NoMicrophone. */
  capture(deviceId: string | undefined): Promise<MediaStreamTrack>;
  devices(): Promise<Device[]>;
  /** Be told when a device comes or goes; returns how to stop. */
  watch(changed: () => void): () => void;
  meter(track: MediaStreamTrack): Meter;
  /** Let a track be heard; returns how to end it. */
  play(track: MediaStreamTrack): () => void;
}

export const browserSound: Sound = {
  async capture(deviceId) {
    // Without a secure page browsers have no such thing at all.
    if (!globalThis.isSecureContext || !navigator.mediaDevices) throw new NoMicrophone("insecure");
    try {
      const [track] = (await open(deviceId)).getAudioTracks();
      if (track) return track;
    } catch (error) {
      throw new NoMicrophone(troubleOf(error));
    }
    throw new NoMicrophone("missing");
  },

  async devices() {
    const all = await navigator.mediaDevices.enumerateDevices();
    const microphones = all.filter(({ kind, deviceId }) => kind === "audioinput" && deviceId !== "");
    return microphones.map(({ deviceId, label }, place) => ({ id: deviceId, label: label || `Microphone ${place + 1}` }));
  },

  watch(changed) {
    navigator.mediaDevices.addEventListener("devicechange", changed);
    return () => navigator.mediaDevices.removeEventListener("devicechange", changed);
  },

  meter(track) {
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    analyser.fftSize = 512;
    context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    return {
      level() {
        analyser.getFloatTimeDomainData(samples);
        const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
        // Ears hear ratios: quiet speech must be seen, too.
        return Math.min(1, Math.max(0, 1 + Math.log10(power + 1e-8) / 5));
      },
      close: () => void context.close(),
    };
  },

  play(track) {
    const element = new Audio();
    element.srcObject = new MediaStream([track]);
    element.play().catch((error: unknown) => console.info("sound not played", error));
    return () => {
      element.pause();
      element.srcObject = null;
    };
  },
};

async function open(deviceId: string | undefined): Promise<MediaStream> {
  const clean = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  const get = (audio: MediaTrackConstraints) => navigator.mediaDevices.getUserMedia({ audio });
  if (deviceId === undefined) return get(clean);
  // A browser may pass over one that is only wished for.
  return get({ ...clean, deviceId: { exact: deviceId } }).catch((error: unknown) => {
    if (troubleOf(error) !== "missing") throw error;
    return get(clean);
  });
}

function troubleOf(error: unknown): Trouble {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "refused";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "busy";
}
