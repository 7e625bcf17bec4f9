import { type ComponentType, lazy, type LazyExoticComponent } from "react";

/** A part of the page that is loaded when it is first shown. */
export function part<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): LazyExoticComponent<ComponentType<P>> {
  return lazy(() => load().catch(() => ({ default: Missing })));
}

function Missing() {
  return (
    <p className="soft missing" role="alert">
      This part of the page could not be loaded. Please reload the page once the server answers.
    </p>
  );
}
