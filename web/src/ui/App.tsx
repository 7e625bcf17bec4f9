import { type Health, useHealth } from "./health";

const WORDS: Record<Health, string> = {
  asking: "Asking the server…",
  well: "The server is running.",
  unwell: "The server answers, but something is wrong. Try “alicia doctor”.",
  silent: "The server does not answer. Start it with “alicia up”.",
};

const PROMISES = [
  ["It is yours", "It runs on your own machine, with your own models, and what you say stays there."],
  ["It forgets nothing", "Every word is stored before it is said. Close the page, come back, go on."],
  ["It can say why", "For each answer it shows the memories, the tools and the steps behind it."],
] as const;

export function App() {
  const health = useHealth();
  return (
    <main>
      <header>
        <img src="/alicia.svg" alt="" width="56" height="56" />
        <h1>Alicia</h1>
        <p className="lead">A conversational AI of your own, in text and voice.</p>
      </header>
      <ul className="promises">
        {PROMISES.map(([title, text]) => (
          <li key={title}>
            <h2>{title}</h2>
            <p>{text}</p>
          </li>
        ))}
      </ul>
      <p className="health" data-health={health} role="status">
        {WORDS[health]}
      </p>
    </main>
  );
}
