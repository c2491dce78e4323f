import type { RemoteRecord } from '../remote.types.ts';
import type { Agreed } from './book.types.ts';
import { toRemote } from './mapping.transforms.ts';
import type { Path } from './mapping.types.ts';
import { type LocalView, localFields, remoteFields } from './normalise.ts';
import type { LocalCard } from './observation.types.ts';
import { addRow, type Planning, wait } from './plan.draft.ts';
import { canonical, same, type Value } from './values.ts';

const asNew = (values: Record<Path, Value>) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([path, value]) => [path, { old: null, new: value }]),
  );

/** Plans a card for a record that has none. Fields that cannot be told here are left out, and follow when they can. */
export function planCreateLocal(
  planning: Planning,
  record: RemoteRecord,
  view: LocalView,
  reason: string,
): void {
  const { mapping, book } = planning;
  const problems = Object.values(view.problems);
  if (view.fields.name == null) {
    planning.again.add(record.id);
    const why = view.problems.name ?? 'it has no name';
    addRow(planning, { action: 'skip', remoteId: record.id, reason: `No card can be made: ${why}` });
    return;
  }
  const remote = remoteFields(mapping, record);
  const agreed: Record<Path, Agreed> = {};
  for (const [path, local] of Object.entries(view.fields))
    agreed[path] = { local, remote: remote[path] ?? null };
  const left = problems.length > 0 ? `; left out: ${problems.join(', ')}` : '';
  const values = defined({ ...mapping.defaults.local, ...defined(view.fields) });
  const diff = asNew(values);
  const refusal = planning.seen.refusals?.find(
    (one) =>
      one.remoteId === record.id && one.path === null && same(canonical(one.seen.remote), canonical(values)),
  );
  if (refusal) {
    planning.again.add(record.id);
    const { reason: why, side } = refusal;
    addRow(planning, { action: 'stage', remoteId: record.id, reason: why, diff, refusedBy: side });
    return;
  }
  const row = addRow(planning, {
    action: 'create',
    side: 'local',
    remoteId: record.id,
    reason: `${reason}${left}`,
    diff,
    expects: { pair: book.pairs.get(record.id)?.state.kind ?? 'none' },
    agreed,
    origin: 'pulled',
  });
  for (const path of Object.keys(view.problems)) {
    const awaits = view.awaits[path];
    wait(planning, record.id, 'local', awaits);
    if (awaits === undefined) continue;
    const held = { local: canonical(row.diff[path]?.new), remote: remote[path] ?? null };
    const ids = { remoteId: record.id, cardId: null, needs: row.no };
    planning.late.push({ ...ids, side: 'local', path, held, base: null, settled: false, awaits });
  }
}

const defined = (values: Record<Path, Value>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

/** Plans a record for a card that has none. */
export function planCreateRemote(planning: Planning, card: LocalCard, reason: string): void {
  const { mapping, around } = planning;
  const values: Record<Path, Value> = {};
  const agreed: Record<Path, Agreed> = {};
  const problems: string[] = [];
  const awaited: { path: Path; awaits: string }[] = [];
  const locals = localFields(mapping, card);
  for (const field of mapping.fields) {
    const local = locals[field.path] ?? null;
    const told = toRemote(field, local, around);
    if (!told.ok) {
      problems.push(told.problem);
      if (told.awaits !== undefined) awaited.push({ path: field.path, awaits: told.awaits });
    } else {
      values[field.path] = told.value;
      agreed[field.path] = { local, remote: told.value };
    }
  }
  const left = problems.length > 0 ? `; left out: ${problems.join(', ')}` : '';
  const row = addRow(planning, {
    action: 'create',
    side: 'remote',
    cardId: card.id,
    reason: `${reason}${left}`,
    diff: asNew(values),
    expects: { unbound: true, card: { there: true, fields: locals } },
    agreed,
    origin: 'pushed',
  });
  for (const one of awaited) {
    const held = { local: locals[one.path] ?? null, remote: null };
    const ids = { remoteId: null, cardId: card.id, needs: row.no };
    planning.late.push({ ...one, ...ids, side: 'remote', held, base: null, settled: false });
  }
}
