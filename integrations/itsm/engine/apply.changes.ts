import type { RemoteRecord } from '../remote.types.ts';
import type { Agreed, BookChange } from './book.types.ts';
import type { Mapping, Path } from './mapping.types.ts';
import { localFields, remoteFields } from './normalise.ts';
import type { LocalCard } from './observation.types.ts';
import type { PlanRow } from './plan.types.ts';
import { canonical, same } from './values.ts';

/** What a write has left behind: the card or the record as its own side now holds it, where it said so. */
export interface Written {
  card?: LocalCard | null;
  record?: RemoteRecord | null;
  /** Keys of a pair that the row makes. */
  cardId: string | null;
  remoteId: string | null;
  /** Paths that the written side did not take. */
  left?: ReadonlySet<Path>;
}

/**
 * What an applied row changes in the book. The base takes the value that the written side really holds: when it stores
 * something else than it was sent, that difference must not look like somebody's change. So an own write never comes
 * back.
 */
export function bookChanges(mapping: Mapping, row: PlanRow, written: Written): BookChange[] {
  const drops = row.drops.map((remoteId): BookChange => ({ op: 'drop', remoteId }));
  const { link } = row;
  if (link) return [{ op: row.action === 'relate' ? 'link' : 'unlink', link: baseLink(row, link) }, ...drops];
  const base = held(mapping, row, written);
  const { remoteId, cardId } = written;
  const makes = row.action === 'create' || row.action === 'link' || row.action === 'restore';
  if (makes && row.origin !== null) {
    if (remoteId === null || cardId === null) return drops;
    const state = row.state ?? ({ kind: 'linked' } as const);
    return [
      ...drops,
      { op: 'pair', pair: { remoteId, cardId, origin: row.origin, state, base, absences: 0 } },
    ];
  }
  if (remoteId === null) return drops;
  const forgotten = row.forgets.map((path) => [path, null] as const);
  const changes: BookChange[] = [];
  if (Object.keys(base).length + forgotten.length > 0) {
    changes.push({ op: 'base', remoteId, base: { ...base, ...Object.fromEntries(forgotten) } });
  }
  if (row.state) changes.push({ op: 'state', remoteId, state: row.state });
  return [...changes, ...drops];
}

/**
 * Whether a row has its side hold something else than what is agreed on with it. So it is where a conflict that was settled is
 * taken back: both sides had moved, and each has its own value again, while what they had agreed on is older than both.
 */
export function writesBeyond({ side, diff, agreed }: PlanRow, path: Path): boolean {
  const [sent, held] = [diff[path], agreed[path]];
  return side !== null && sent !== undefined && held !== undefined && !same(canonical(sent.new), held[side]);
}

/** An aliased record's relation stands in the base under the record that speaks for the card. */
const baseLink = (row: PlanRow, link: NonNullable<PlanRow['link']>) => row.baseLink ?? link;

function held(mapping: Mapping, row: PlanRow, { card, record, left }: Written): Record<Path, Agreed> {
  const local = card ? localFields(mapping, card) : {};
  const remote = record ? remoteFields(mapping, record) : {};
  const base: Record<Path, Agreed> = {};
  for (const [path, agreed] of Object.entries(row.agreed)) {
    if (left?.has(path)) continue;
    if (writesBeyond(row, path)) {
      base[path] = agreed;
      continue;
    }
    base[path] = {
      local: row.side === 'local' && card ? (local[path] ?? null) : agreed.local,
      remote: row.side === 'remote' && record ? (remote[path] ?? null) : agreed.remote,
    };
  }
  return base;
}
