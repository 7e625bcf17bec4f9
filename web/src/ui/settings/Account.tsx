import { useCallback } from "react";

import { call } from "../../client/calls";
import { signOut } from "../../client/user";
import { useTry } from "../toast";
import { useLoad } from "../useLoad";
import { Group, Row } from "./SettingsView";

interface Me {
  user: string;
  auth: boolean;
}

/** Who is signed in, where the server asks. */
export function Account() {
  const { value } = useLoad(useCallback((signal: AbortSignal) => call<Me>("GET", "/me", undefined, signal), []));
  const attempt = useTry();
  if (!value?.auth) return null;
  const leave = async () => {
    if (await attempt(signOut)) location.reload();
  };
  return (
    <Group name="Account">
      <Row name={value.user} about="What this browser keeps stays here until you sign in again.">
        <button type="button" className="quiet" onClick={() => void leave()}>
          Sign out
        </button>
      </Row>
    </Group>
  );
}
