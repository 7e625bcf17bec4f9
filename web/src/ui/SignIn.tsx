import { useState } from "react";

import { Refused } from "../client/access";
import { signIn } from "../client/user";

/** The server wants to know who is there. */
export function SignIn() {
  const [token, setToken] = useState("");
  const [trouble, setTrouble] = useState("");
  const submit = async () => {
    try {
      await signIn(token.trim());
      location.reload();
    } catch (error) {
      setTrouble(error instanceof Refused ? "This token is not valid here." : "The server does not answer. Please try again.");
    }
  };
  return (
    <main className="gate">
      <form
        className="empty"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <img src="/alicia.svg" alt="" width="52" height="52" />
        <h1>Who is there?</h1>
        <p className="soft">This server asks everybody for a token. Whoever runs it can make you one with “alicia token”.</p>
        <label className="hidden" htmlFor="token">
          Your token
        </label>
        <input
          id="token"
          type="password"
          autoComplete="current-password"
          placeholder="Your token"
          autoFocus
          value={token}
          aria-describedby={trouble ? "trouble" : undefined}
          onChange={(event) => setToken(event.target.value)}
        />
        {trouble && (
          <p id="trouble" className="small trouble-line" role="alert">
            {trouble}
          </p>
        )}
        <button type="submit" className="primary" disabled={!token.trim()}>
          Sign in
        </button>
      </form>
    </main>
  );
}
