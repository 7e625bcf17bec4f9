const DAY = 86_400_000;

/** Things grouped by how long ago they happened, in plain words; each group keeps its order. */
export function byAge<T extends { updatedAt: number }>(things: readonly T[], now: Date): [string, T[]][] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const groups = new Map<string, T[]>();
  for (const thing of things) {
    const age = ageOf(thing.updatedAt, midnight);
    groups.set(age, [...(groups.get(age) ?? []), thing]);
  }
  return [...groups];
}

function ageOf(time: number, midnight: number): string {
  if (time >= midnight) return "Today";
  if (time >= midnight - DAY) return "Yesterday";
  if (time >= midnight - 7 * DAY) return "The last seven days";
  return "Earlier";
}
