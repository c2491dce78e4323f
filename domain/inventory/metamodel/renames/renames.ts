import { query } from '../../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../../platform/errors.ts';
import { loadMetamodel } from '../../../kernel/metamodel/metamodel.store.ts';
import type {
  Alias,
  Deprecation,
  Field,
  RelationAttribute,
} from '../../../kernel/metamodel/metamodel.types.ts';
import type { UndoneEvent } from '../../../kernel/undo/undo.types.ts';
import { type StoredChanges, updateInventory } from '../changes/changes.inventory.ts';
import { type ChangeRun, noImpact } from '../changes/changes.types.ts';
import type { Renames } from '../changes/values.diff.ts';
import {
  breaks,
  consumersOf,
  type FoundConsumers,
  inUse,
  listed,
  renameInConsumers,
} from '../usage/consumers.ts';

/** The new key of a part, and until when the former one may be named. */
export interface Rename extends Pick<Deprecation, 'removal' | 'note'> {
  key: string;
}

/** A part that can have another key. */
interface Named {
  key: string;
  aliases?: Alias[] | undefined;
}

/** A part with its new key and the former one as an alias. */
export function renamed<P extends Named>(part: P, { key, removal, note }: Rename): P {
  const alias = { key: part.key, deprecation: { removal, ...(note === undefined ? {} : { note }) } };
  // a former key that becomes the present one again is none any more
  return { ...part, key, aliases: [...(part.aliases ?? []).filter((one) => one.key !== key), alias] };
}

/**
 * The part with the key, which is to get another one.
 * @param what what the parts are called. @param all the parts that have different keys.
 * @throws EstateError `not_found`; `wrong_state` if it was renamed meanwhile; `validation_failed` for a key that is taken.
 */
export function requireRenamable<P extends Named>(
  what: string,
  all: readonly P[],
  from: string,
  to: string,
): P {
  const names = ({ aliases }: P, key: string) => aliases?.some((alias) => alias.key === key) === true;
  const part = all.find(({ key }) => key === from);
  if (!part) {
    const now = all.find((one) => names(one, from));
    if (!now) throw notFound(what, from);
    throw new EstateError('wrong_state', `The ${what} ${from} was renamed: its key is ${now.key}.`);
  }
  const taken = (message: string) => invalidField('key', 'duplicate', message);
  if (from === to) throw taken('is its present key');
  if (all.some(({ key }) => key === to)) throw taken(`is the key of another ${what}`);
  const former = all.find((one) => one !== part && names(one, to));
  if (!former) return part;
  const until = former.aliases!.find(({ key }) => key === to)!.deprecation.removal;
  throw taken(`is a former key of ${former.key}, which requests may name until ${until}`);
}

/**
 * Lets stored objects and values follow a rename that is written.
 * @param former the path of the part by its former key.
 * @returns the impact.
 * @throws EstateError `in_use` for objects that cannot follow; LargeChange.
 */
export async function followRename(run: ChangeRun, former: string, stored: StoredChanges): Promise<string> {
  const { ctx, work } = run;
  const metamodel = await loadMetamodel(work.sql);
  await renameInConsumers(ctx, work, metamodel);
  const left = await unable(run, metamodel, former);
  if (breaks(left) && !run.force && !run.dryRun) throw inUse(left);
  const counts = await updateInventory(run, stored);
  run.broken = left;
  const as_job = counts.cards + counts.relations > run.limit;
  return JSON.stringify({ ...noImpact, ...counts, ...listed(left), needs_force: breaks(left), as_job });
}

/** The objects that still name a part by its former key, but for clients, whose requests may do so. */
async function unable(
  { ctx, work }: ChangeRun,
  metamodel: Awaited<ReturnType<typeof loadMetamodel>>,
  former: string,
): Promise<FoundConsumers> {
  const clients = ctx.extensions.consumers.filter((kind) => kind.tables.includes('odata_reads'));
  const consumers = ctx.extensions.consumers.filter((kind) => !clients.includes(kind));
  const stored = { ...ctx, extensions: { ...ctx.extensions, consumers } };
  return await consumersOf(stored, work.sql, metamodel, new Set([former]));
}

/**
 * Lets stored objects follow renames that are undone, by the type as it is written again; those that the undone batch has
 * written have their own undo.
 * @param event that of the type.
 */
export async function followUndone(
  { ctx, work }: ChangeRun,
  prefix: '' | 'relation_',
  { id: type, position }: UndoneEvent,
  { renamed, renamedOptions }: Renames,
): Promise<void> {
  if (renamed.length + renamedOptions.length === 0) return;
  const metamodel = await loadMetamodel(work.sql);
  const aliases = new Map(metamodel.aliases);
  for (const { from, to } of renamed) aliases.set(`${prefix}field:${type}.${from}`, to);
  for (const { field, from, to } of renamedOptions) {
    const then = renamed.find((one) => one.from === field)?.to ?? field;
    aliases.set(`${prefix}option:${type}.${then}.${from}`, to);
  }
  const written = await query(work.sql).column<string>`select distinct data ->> 'id' from events
    where data ->> 'id' is not null and batch_id = (select batch_id from events where position = ${position})`;
  await renameInConsumers(ctx, work, { ...metamodel, aliases }, written);
}

type Declared = Field | RelationAttribute;

/**
 * The fields and options that undoing a change of a type gives another key again: those that the change has renamed, or named
 * back by undoing a rename. All values follow, also those that cards and relations have got since.
 */
export function renamesUndone(present: readonly Declared[], past: readonly Declared[]): Renames {
  const renamed = returning(present, past).filter(
    ({ from, to }) => typeOf(present, from) === typeOf(past, to),
  );
  const renamedOptions = present.flatMap((field) => {
    const then = renamed.find(({ from }) => from === field.key)?.to ?? field.key;
    const options = past.find(({ key }) => key === then)?.options ?? [];
    return returning(field.options ?? [], options).map((one) => ({ field: field.key, ...one }));
  });
  return { renamed, renamedOptions };
}

const typeOf = (fields: readonly Declared[], wanted: string) =>
  fields.find(({ key }) => key === wanted)?.type;

/** Parts that are named by another key in a past state. */
function returning(present: readonly Named[], past: readonly Named[]): { from: string; to: string }[] {
  const without = (parts: readonly Named[], others: readonly Named[]) => {
    const keys = new Set(others.map(({ key }) => key));
    return parts.filter(({ key }) => !keys.has(key));
  };
  const names = ({ aliases }: Named, key: string) => aliases?.some((alias) => alias.key === key) === true;
  const gone = without(past, present);
  return without(present, past).flatMap((part) => {
    const to = gone.find((other) => names(part, other.key) || names(other, part.key));
    return to ? [{ from: part.key, to: to.key }] : [];
  });
}
