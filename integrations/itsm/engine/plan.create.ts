import type { RemoteRecord } from '../remote.types.ts';
import type { Agreed } from './book.types.ts';
import { toRemote } from './mapping.transforms.ts';
import type { Path } from './mapping.types.ts';
import { type LocalView, localFields, remoteFields } from './normalise.ts';
import type { LocalCard } from './observation.types.ts';
import { addRow, type Planning } from './plan.draft.ts';
import type { Value } from './values.ts';

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
  if (problems.length > 0) planning.again.add(record.id);
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
  addRow(planning, {
    action: 'create',
    side: 'local',
    remoteId: record.id,
    reason: `${reason}${left}`,
    diff: asNew({ ...mapping.defaults.local, ...defined(view.fields) }),
    expects: { pair: book.pairs.get(record.id)?.state.kind ?? 'none' },
    agreed,
    origin: 'pulled',
  });
}

const defined = (values: Record<Path, Value>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

/** Plans a record for a card that has none. */
export function planCreateRemote(planning: Planning, card: LocalCard, reason: string): void {
  const { mapping, around } = planning;
  const values: Record<Path, Value> = {};
  const agreed: Record<Path, Agreed> = {};
  const problems: string[] = [];
  const locals = localFields(mapping, card);
  for (const field of mapping.fields) {
    const local = locals[field.path] ?? null;
    const told = toRemote(field, local, around);
    if (!told.ok) problems.push(told.problem);
    else {
      values[field.path] = told.value;
      agreed[field.path] = { local, remote: told.value };
    }
  }
  const left = problems.length > 0 ? `; left out: ${problems.join(', ')}` : '';
  addRow(planning, {
    action: 'create',
    side: 'remote',
    cardId: card.id,
    reason: `${reason}${left}`,
    diff: asNew(values),
    expects: { unbound: true, card: { there: true, fields: locals } },
    agreed,
    origin: 'pushed',
  });
}
