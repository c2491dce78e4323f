import { type Applying, without } from './apply.state.ts';
import type { Ending, Standing } from './apply.types.ts';
import type { PlanRow } from './plan.types.ts';
import type { Value } from './values.ts';

/** Whether a row leads to what the same plan makes. */
export const isLate = ({ refers }: PlanRow): boolean => Object.keys(refers).length > 0;

/**
 * Tells such rows what they lead to, and what they are about, as far as the rows before them have made it; rows of which
 * that is known all along are given back as they are. What was not made ends the row as `stale`.
 */
export async function resolveLate(applying: Applying, rows: readonly Standing[]): Promise<Standing[]> {
  const late = rows.filter(({ row }) => isLate(row)).map(({ row }) => row);
  if (late.length === 0) return [...rows];
  const { port, ended } = applying;
  const here = late.filter(({ side }) => side === 'local');
  const outside = late.filter(({ side }) => side === 'remote');
  const who = await port.whoIs(
    here.flatMap(({ remoteId, refers }) => [...present(remoteId), ...Object.values(refers)]),
    outside.flatMap(({ cardId, refers }) => [...present(cardId), ...Object.values(refers)]),
  );
  const lost: Ending[] = [];
  const ready = rows.flatMap((one): Standing[] => {
    if (!isLate(one.row)) return [one];
    const row = resolved(one.row, who);
    if (row) return [{ ...one, row }];
    const outcome = without('stale', 'What it leads to, or is about, was not made.');
    lost.push({ row: one.row, outcome, changes: [] });
    return [];
  });
  if (lost.length > 0) await port.finish(lost);
  for (const { row, outcome } of lost) ended.set(row.no, outcome.progress);
  return ready;
}

const present = (id: string | null): string[] => (id === null ? [] : [id]);

type Who = Awaited<ReturnType<Applying['port']['whoIs']>>;

function resolved(row: PlanRow, who: Who): PlanRow | undefined {
  const { side } = row;
  if (row.link) {
    const link = { ...row.link };
    for (const [end, cardId] of Object.entries(row.refers)) {
      const record = who.recordOf(cardId);
      if (record === undefined) return undefined;
      link[end as 'source' | 'target'] = record;
    }
    return { ...row, link };
  }
  const remoteId = row.remoteId ?? who.recordOf(row.cardId ?? '');
  const cardId = row.cardId ?? who.cardOf(row.remoteId ?? '');
  if (remoteId === undefined || cardId === undefined || side === null) return undefined;
  const diff = { ...row.diff };
  const agreed = { ...row.agreed };
  for (const [path, awaited] of Object.entries(row.refers)) {
    const value: Value | undefined = side === 'local' ? who.cardOf(awaited) : who.recordOf(awaited);
    if (value === undefined) return undefined;
    diff[path] = { ...diff[path]!, new: value };
    agreed[path] = { ...agreed[path]!, [side]: value };
  }
  return { ...row, remoteId, cardId, diff, agreed };
}
