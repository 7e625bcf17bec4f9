const BEGINNINGS = [
  ["Explain", "Explain to me, step by step, "],
  ["Write", "Help me write "],
  ["Decide", "Help me weigh my options: "],
  ["Remember", "Please remember that "],
] as const;

/** A new conversation: a welcome, and some ways to begin. */
export function Empty({ onBegin }: { onBegin: (words: string) => void }) {
  return (
    <div className="empty">
      <img src="/alicia.svg" alt="" width="52" height="52" />
      <h2>What is on your mind?</h2>
      <p className="soft">Alicia runs on your own machine, keeps every word, and can say why it answered as it did.</p>
      <ul>
        {BEGINNINGS.map(([name, words]) => (
          <li key={name}>
            <button type="button" onClick={() => onBegin(words)}>
              <strong>{name}</strong>
              <span>{words.trim().replace(/[:,]$/, "")}…</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
