import { ApiError, answer, type PatchCardBody, patchCards } from '#client';
import type { CellEdit } from './edits.ts';
import type { CardListItem } from './types.ts';

/** A cell that gets another value. */
export interface Change {
  card: CardListItem;
  column: string;
  edit: CellEdit;
  value: unknown;
}

/** Cards that one action changes at most. */
export const MOST_CHANGED = 500;

/** The members of several changes of one card. */
function bodyOf(changes: readonly Change[]): PatchCardBody {
  const body: Record<string, unknown> = {};
  for (const { edit, value } of changes) {
    for (const [member, next] of Object.entries(edit.patch(value))) {
      const isPart = member === 'attributes' || member === 'lifecycle';
      body[member] = isPart ? { ...(body[member] as object), ...(next as object) } : next;
    }
  }
  return body;
}

/** Cards that get the same values, which one request changes. */
function groupsOf(changes: readonly Change[]): { ids: string[]; updates: PatchCardBody }[] {
  const byBody = new Map<string, { ids: string[]; updates: PatchCardBody }>();
  for (const [id, own] of Map.groupBy(changes, ({ card }) => card.id)) {
    const updates = bodyOf(own);
    const key = JSON.stringify(updates);
    const group = byBody.get(key) ?? { ids: [], updates };
    group.ids.push(id);
    byBody.set(key, group);
  }
  return [...byBody.values()];
}

export interface Outcome {
  /** Cards that change. */
  changed: number;
  /** The error by card. */
  refused: Map<string, ApiError>;
  headers: Headers | undefined;
}

/** Requests at once. */
const AT_ONCE = 4;

/**
 * Changes cards, or tries it: a refused card does not prevent the others. All requests are one action, which is taken
 * back as a whole.
 */
export async function applyChanges(
  changes: readonly Change[],
  isDry: boolean,
  action: string = crypto.randomUUID(),
): Promise<Outcome> {
  const outcome: Outcome = { changed: 0, refused: new Map(), headers: undefined };
  const waiting = groupsOf(changes);
  const work = async () => {
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      const { ids, updates } = group;
      try {
        const body = { ids, updates, dry_run: isDry };
        const { data, headers } = await answer(patchCards({ body, headers: { 'X-Action-Id': action } }));
        outcome.changed += isDry ? data.would_update : data.updated;
        outcome.headers = headers;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (ids.length > 1) waiting.push(...ids.map((id) => ({ ids: [id], updates })));
        else outcome.refused.set(ids[0]!, error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcome;
}
