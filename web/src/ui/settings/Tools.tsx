import { useCallback, useState } from "react";

import { listTools, switchTool, type Tool } from "../../client/settings";
import { Switch } from "../Switch";
import { useTry } from "../toast";
import { useLoad } from "../useLoad";
import { Group, Row } from "./SettingsView";

/** What answers may use. Switched for everybody on this server. */
export function Tools() {
  const { value, trouble } = useLoad(useCallback((signal: AbortSignal) => listTools(signal), []));
  if (trouble) return <Group name="Tools">{<p className="soft row">{trouble}</p>}</Group>;
  if (!value) return null;
  return (
    <Group name="Tools">
      {value.length === 0 && <p className="soft row">There are no tools.</p>}
      {value.map((tool) => (
        <ToolRow key={tool.name} tool={tool} />
      ))}
    </Group>
  );
}

function ToolRow({ tool: { name, description, enabled } }: { tool: Tool }) {
  const [on, setOn] = useState(enabled);
  const attempt = useTry();
  const change = (wanted: boolean) => void attempt(async () => setOn((await switchTool(name, wanted)).enabled));
  const words = name.replaceAll("_", " ");
  return (
    <Row name={words.charAt(0).toUpperCase() + words.slice(1)} about={description.split("\n")[0]}>
      <Switch label={words} on={on} onChange={change} />
    </Row>
  );
}
