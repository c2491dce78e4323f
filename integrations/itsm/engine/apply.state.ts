import type { EnginePort, Outcome, Progress } from './apply.types.ts';
import type { Mapping, Path } from './mapping.types.ts';
import type { PlanRow } from './plan.types.ts';

/** What is to be applied, and how much of it at once. */
export interface ApplyOptions {
  /** Rows on which nobody has decided are left for later; else only the rejected ones are left out. */
  approvedOnly?: boolean;
  /** Apply though the breaker has stopped the plan: a person has looked at the removals. */
  despiteBreaker?: boolean;
  /** Whether a record may have changed since it was read: it is looked at before its values are written here. */
  mayHaveMoved?: (remoteId: string) => boolean;
  /** Rows at the remote that are checked by one reading. */
  remoteBatch?: number;
  /** Such parts under way at once; one unless told otherwise. */
  partsAtOnce?: number;
  /** Writes of a part under way at the remote at once; how fast they go is the connection's affair. */
  atOnce?: number;
}

/** A plan that is being applied. */
export interface Applying {
  mapping: Mapping;
  planId: string;
  port: EnginePort;
  options: ApplyOptions;
  /** How rows stand so far, by their number. */
  ended: Map<number, Progress>;
}

/** The row that another one builds on was not applied; null when it was, or there is none. */
export function needsObjection(row: PlanRow, ...ended: ReadonlyMap<number, Progress>[]): string | null {
  if (row.needs === null || ended.some((known) => known.get(row.needs!) === 'applied')) return null;
  return `Row ${row.needs}, which this one builds on, was not applied.`;
}

/** An outcome that changes nothing anywhere. */
export const without = (progress: Outcome['progress'], message: string): Outcome => ({ progress, message });

/** Which values of a row were not taken, in words. */
export const leftOut = (left: Record<Path, string>): string =>
  `Left out: ${Object.entries(left)
    .map(([path, why]) => `${path} (${why})`)
    .join('; ')}`;

/** All values of a row that was refused as a whole. */
export const allLeft = ({ action, diff }: PlanRow, why: string): Record<Path, string> =>
  action === 'update' ? Object.fromEntries(Object.keys(diff).map((path) => [path, why])) : {};
