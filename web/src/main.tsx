import "@fontsource-variable/geist/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { Desk } from "./client/desk";
import { App } from "./ui/App";
import "./ui/styles/index.css";
import { applyTheme, readTheme } from "./ui/theme";
import { Trouble } from "./ui/Trouble";

applyTheme(readTheme());
const place = document.getElementById("root");
if (place) {
  const root = createRoot(place);
  Desk.make().then(
    (desk) =>
      root.render(
        <StrictMode>
          <App desk={desk} />
        </StrictMode>,
      ),
    (error: unknown) => root.render(<Trouble reason={String(error)} />),
  );
}
