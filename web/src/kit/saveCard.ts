import { ApiError, answer, type Card, patchCard, readCard } from '#client';

export type CardPatch = NonNullable<Parameters<typeof patchCard>[0]['body']>;

/** A field that somebody else has changed to another value meanwhile. */
export interface Clash {
  /** Such as `name`, `attributes.costTotalAnnual` or `lifecycle.active`. */
  path: string;
  was: unknown;
  theirs: unknown;
  mine: unknown;
}

/** Asks which values win. @returns the paths whose own values are kept; undefined to save nothing. */
export type AskAboutClashes = (clashes: readonly Clash[]) => Promise<ReadonlySet<string> | undefined>;

const isNested = (key: string) => key === 'attributes' || key === 'lifecycle';

/** The values of a patch by path. */
function changesOf(patch: CardPatch): Map<string, unknown> {
  return new Map(
    Object.entries(patch).flatMap(([key, value]) =>
      isNested(key)
        ? Object.entries((value ?? {}) as object).map(([name, one]) => [`${key}.${name}`, one] as const)
        : [[key, value] as const],
    ),
  );
}

/** The value of a card at a path; null without one. */
export function valueAt(card: Partial<Card>, path: string): unknown {
  const [key, ...rest] = path.split('.');
  const value = card[key as keyof Card] as unknown;
  if (!isNested(key!)) return value ?? null;
  return (value as Record<string, unknown> | null | undefined)?.[rest.join('.')] ?? null;
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

function without(patch: CardPatch, path: string): CardPatch {
  const [key, ...rest] = path.split('.');
  if (!isNested(key!)) return { ...patch, [key!]: undefined };
  const { [rest.join('.')]: _, ...others } = patch[key as 'attributes'] as Record<string, unknown>;
  return { ...patch, [key!]: others };
}

/** How often a save starts again because of others' writes. */
const ATTEMPTS = 5;

/**
 * Changes a card. What others have changed since `seen` was read is merged without asking, unless it is one of the fields
 * of the patch.
 * @param seen the card when the edit began, at least its fields of the patch.
 * @returns the batch that undoes it; null if nothing was written.
 * @throws ApiError with the reason at the field.
 */
export async function saveCard(
  id: string,
  seen: Partial<Card>,
  patch: CardPatch,
  ask: AskAboutClashes,
): Promise<string | null> {
  const decided = new Map<string, unknown>();
  let wanted = patch;
  for (let attempt = 1; ; attempt += 1) {
    const { data: card, headers } = await answer(readCard({ path: { id } }));
    const clashes = [...changesOf(wanted)].flatMap(([path, mine]): Clash[] => {
      const theirs = valueAt(card, path);
      const was = decided.has(path) ? decided.get(path) : valueAt(seen, path);
      return isSame(theirs, was) || isSame(theirs, mine) ? [] : [{ path, was, theirs, mine }];
    });
    if (clashes.length > 0) {
      const kept = await ask(clashes);
      if (!kept) return null;
      for (const { path, theirs } of clashes) {
        if (kept.has(path)) decided.set(path, theirs);
        else wanted = without(wanted, path);
      }
    }
    if (![...changesOf(wanted)].some(([path, mine]) => !isSame(mine, valueAt(card, path)))) return null;
    try {
      const { headers: written } = await answer(
        patchCard({ path: { id }, body: wanted, headers: { 'If-Match': headers.get('etag')! } }),
      );
      return written.get('x-mutation-batch');
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412 || attempt === ATTEMPTS) throw error;
    }
  }
}
