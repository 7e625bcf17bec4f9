import "@fontsource-variable/geist/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { Refused } from "./client/access";
import { Desk } from "./client/desk";
import { App } from "./ui/App";
import { SignIn } from "./ui/SignIn";
import "./ui/styles/index.css";
import { applyTheme, readTheme } from "./ui/theme";
import { Toasts } from "./ui/toast";
import { Trouble } from "./ui/Trouble";

applyTheme(readTheme());
const place = document.getElementById("root");
if (place) {
  const root = createRoot(place);
  Desk.make().then(
    (desk) =>
      root.render(
        <StrictMode>
          <Toasts>
            <App desk={desk} />
          </Toasts>
        </StrictMode>,
      ),
    (error: unknown) => {
      const stranger = error instanceof Refused && error.status === 401;
      root.render(stranger ? <SignIn /> : <Trouble reason={String(error)} />);
    },
  );
}

// Without it the page needs the server to open; while developing that is what one wants.
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  addEventListener("load", () => {
    navigator.serviceWorker.register("/sw.js").catch((error: unknown) => console.info("page not kept", error));
  });
}
