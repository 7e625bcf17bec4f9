import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";

export interface Toast {
  words: string;
  /** What can be done about it while it is shown. */
  action?: { name: string; run: () => void };
}

const STAYS = 8_000;

const Tell = createContext<(toast: Toast) => void>(() => undefined);

/** Says a short thing at the edge of the page; a new one takes the place of the one before. */
export const useTell = (): ((toast: Toast) => void) => useContext(Tell);

export function Toasts({ children }: { children: ReactNode }) {
  const [toast, setToast] = useState<Toast>();
  const [held, setHeld] = useState(false);
  const close = useCallback(() => setToast(undefined), []);
  useEffect(() => {
    if (!toast || held) return undefined;
    const timer = setTimeout(close, STAYS);
    return () => clearTimeout(timer);
  }, [toast, held, close]);
  return (
    <Tell value={setToast}>
      {children}
      <div className="toasts" role="status">
        {toast && (
          <p
            key={toast.words}
            onPointerEnter={() => setHeld(true)}
            onPointerLeave={() => setHeld(false)}
            onFocus={() => setHeld(true)}
            onBlur={() => setHeld(false)}
          >
            <span>{toast.words}</span>
            {toast.action && (
              <button
                type="button"
                onClick={() => {
                  toast.action?.run();
                  setHeld(false);
                  close();
                }}
              >
                {toast.action.name}
              </button>
            )}
          </p>
        )}
      </div>
    </Tell>
  );
}

/** Does something, and says so if it can't be done. True if it was. */
export function useTry(): (work: () => Promise<unknown>) => Promise<boolean> {
  const tell = useTell();
  return useCallback(
    async (work) => {
      try {
        await work();
        return true;
      } catch (error) {
        tell({ words: `${error instanceof Error ? error.message : String(error)} Nothing was changed.` });
        return false;
      }
    },
    [tell],
  );
}
