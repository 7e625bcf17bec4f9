import type { Message, Shown } from "./message";

/**
 * The messages in reading order, with one variant of each: the chosen one, or else the newest.
 *
 * `messages` come in the order of the log. An answer stands right after its question, and what was asked before it
 * began follows on it. What follows a variant that is not in view is not in view either. `chosen` maps the first of a
 * family of variants to the one that is wanted.
 */
export function arrange(messages: readonly Message[], chosen: ReadonlyMap<string, string>): Shown[] {
  const byId = new Map(messages.map((each) => [each.id, each]));
  const families = new Map<string, string[]>();
  const rootOf = new Map<string, string>();
  for (const { id, supersedes } of messages) {
    const root = (supersedes !== undefined && rootOf.get(supersedes)) || id;
    rootOf.set(id, root);
    families.set(root, [...(families.get(root) ?? []), id]);
  }
  const answers = answersByQuestion(messages, byId);
  const place = new Map(messages.map((each, index) => [each.id, index]));
  const before = ({ id, role, previousId }: Message): Message | undefined => {
    const previous = previousId === undefined ? undefined : byId.get(previousId);
    if (role !== "user" || previous?.role !== "user") return previous;
    const given = answers.get(previous.id) ?? [];
    return given.find((each) => (place.get(each.id) ?? 0) > (place.get(id) ?? 0)) ?? given.at(-1) ?? previous;
  };
  const inView = new Map<string, boolean>();
  const isInView = (message: Message): boolean => {
    const known = inView.get(message.id);
    if (known !== undefined) return known;
    // A message that claims to follow itself must not hang the page.
    inView.set(message.id, true);
    const root = rootOf.get(message.id) ?? message.id;
    const wanted = chosen.get(root) ?? families.get(root)?.at(-1);
    const previous = before(message);
    const answer = wanted === message.id && (previous === undefined || isInView(previous));
    inView.set(message.id, answer);
    return answer;
  };
  const answersToNone = messages.filter(({ role, previousId }) => role === "user" || !byId.has(previousId ?? ""));
  return answersToNone
    .flatMap((each) => [each, ...(answers.get(each.id) ?? [])])
    .filter(isInView)
    .map((message) => ({ message, variants: families.get(rootOf.get(message.id) ?? message.id) ?? [message.id] }));
}

function answersByQuestion(messages: readonly Message[], byId: ReadonlyMap<string, Message>): Map<string, Message[]> {
  const answers = new Map<string, Message[]>();
  for (const message of messages) {
    const question = message.previousId === undefined ? undefined : byId.get(message.previousId);
    if (message.role === "assistant" && question) answers.set(question.id, [...(answers.get(question.id) ?? []), message]);
  }
  return answers;
}
