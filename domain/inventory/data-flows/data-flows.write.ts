import { query } from '../../../platform/database.ts';
import {
  EstateError,
  type FieldError,
  fieldError,
  invalidFields,
  notFound,
} from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers, type RowChanges, rowChanges } from '../../kernel/events/row-changes.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';
import { deleteRows, findRows, insertRows, updateRows } from '../../kernel/resources/rows.ts';
import { loadSettings, type SettingValues } from '../../kernel/settings/settings.read.ts';
import { lockCards } from '../cards/cards.load.ts';
import { requireManage } from '../relations/relations.admit.ts';
import {
  type CardRef,
  loadEnds,
  type ResolvedRef,
  refErrors,
  resolveRefs,
} from '../relations/relations.load.ts';
import type { RelationEnd } from '../relations/relations.model.ts';
import { emitFlows, type FlowWrite } from './data-flows.attached.ts';
import {
  DATA_OBJECT,
  DataFlow,
  type DataFlowInput,
  type DataFlowRow,
  INTERFACE,
  MAX_DATA_OBJECTS,
} from './data-flows.model.ts';

/** The parts of a flow that are cards. */
type FlowPart = 'source' | 'target' | 'interface' | 'data_objects';

/** A flow to be written: an absent member is not changed, `null` clears it. */
export interface FlowOperation extends DataFlowInput {
  action?: 'upsert' | 'delete';
  /** Of the flow; without it a flow with its external id is changed, else one is created. */
  id?: string;
  /** The id of the flow, if it is created; refused if there is one with its external id. */
  new_id?: string;
  source?: CardRef;
  target?: CardRef;
  interface?: CardRef | null;
  data_objects?: CardRef[] | null;
}

/** The outcome of an operation. */
export interface FlowOutcome {
  status: 'created' | 'updated' | 'deleted' | 'unchanged' | 'failed';
  id: string | null;
  error?: EstateError;
  /** The old and new value of each changed member, as the caller sees them. */
  changes?: RowChanges;
}

/** What a batch of operations reads once. */
interface Batch {
  work: Work;
  ctx: Ctx;
  frequencies: SettingValues['flow_frequencies'];
  /** The visible cards. */
  cards: Map<string, RelationEnd>;
  /** As they are after the operations before. */
  byId: Map<string, DataFlowRow>;
  byExternalId: Map<string, DataFlowRow>;
  /** Finds the cards of references, in the order in which the operations name them. */
  resolved: Map<CardRef, ResolvedRef>;
  writes: Map<string, FlowWrite>;
  newIds: string[];
  /** Names of fields in errors. */
  fields: Readonly<Record<FlowPart, string>>;
}

const idFields = {
  source: 'source_id',
  target: 'target_id',
  interface: 'interface_id',
  data_objects: 'data_object_ids',
} as const;
const refFields = {
  source: 'source',
  target: 'target',
  interface: 'interface',
  data_objects: 'data_objects',
};

/**
 * Applies operations in order, in a fixed number of statements; each is checked like a single one. A failed operation has
 * its error, the others are written.
 * @param named how errors name the cards: by `*_id` members, or by references.
 */
export async function applyFlows(
  work: Work,
  ctx: Ctx,
  operations: readonly FlowOperation[],
  named: 'ids' | 'references' = 'references',
): Promise<FlowOutcome[]> {
  const batch = await loadBatch(work, ctx, operations, named === 'ids' ? idFields : refFields);
  const outcomes = operations.map((operation, n): FlowOutcome => {
    try {
      return step(batch, operation, batch.newIds[n]!);
    } catch (error) {
      if (!(error instanceof EstateError)) throw error;
      return { status: 'failed', id: null, error };
    }
  });
  await write(work, [...batch.writes.values()]);
  return outcomes;
}

async function loadBatch(
  work: Work,
  ctx: Ctx,
  operations: readonly FlowOperation[],
  fields: Batch['fields'],
): Promise<Batch> {
  const { sql } = work;
  const refs = operations.flatMap(({ source, target, interface: over, data_objects }) => [
    ...(source ? [source] : []),
    ...(target ? [target] : []),
    ...(over ? [over] : []),
    ...(data_objects ?? []),
  ]);
  const found = await resolveRefs(sql, ctx, refs);
  const ids = operations.flatMap(({ id }) => id ?? []);
  const externalIds = operations.flatMap(({ external_id }) => external_id ?? []);
  const known = await query(sql).rows<Pick<DataFlowRow, 'id' | 'source_id' | 'target_id'>>`
    select id, source_id, target_id from data_flows
    where id = any(${ids}::uuid[]) or external_id = any(${externalIds}::text[])`;
  const cardIds = new Set([
    ...found.flatMap((ref) => ('id' in ref ? ref.id : [])),
    ...known.flatMap(({ source_id, target_id }) => [source_id, target_id]),
  ]);
  await lockCards(work, cardIds, 'share');
  const stored = await findRows(sql, DataFlow, (rows) =>
    rows
      .whereIn(
        'id',
        known.map(({ id }) => id),
      )
      .orderBy('id')
      .forUpdate(),
  );
  const kept = stored.flatMap(({ interface_id, data_object_ids }) => [
    ...(interface_id ? [interface_id] : []),
    ...data_object_ids,
  ]);
  const { values: settings } = await loadSettings(sql);
  return {
    work,
    ctx,
    frequencies: settings.flow_frequencies,
    cards: await loadEnds(sql, ctx, new Set([...cardIds, ...kept])),
    byId: new Map(stored.map((row) => [row.id, row])),
    byExternalId: new Map(stored.flatMap((row) => (row.external_id ? [[row.external_id, row]] : []))),
    resolved: new Map(refs.map((ref, n) => [ref, found[n]!])),
    writes: new Map(),
    newIds: await query(sql)
      .column<string>`select uuidv7() from generate_series(1, ${operations.length}::int)`,
    fields,
  };
}

/** Applies one operation to the batch with the changes of those before. @throws EstateError as single writes do. */
function step(batch: Batch, operation: FlowOperation, newId: string): FlowOutcome {
  const { action = 'upsert', id, external_id } = operation;
  const before = id ? batch.byId.get(id.toLowerCase()) : batch.byExternalId.get(external_id ?? '');
  if (id && !before) throw notFound('data flow', id);
  if (before && operation.new_id) throw externalIdTaken(external_id!);
  if (before) requireChangeable(batch, before);
  if (action === 'delete') {
    if (!before) throw notFound('data flow', external_id ?? '');
    put(batch, before, null);
    return { status: 'deleted', id: before.id };
  }
  const after = before ? { ...before } : emptyFlow(operation.new_id ?? newId);
  const errors = setCards(batch, operation, before, after);
  for (const member of ['direction', 'frequency', 'description', 'external_id'] as const) {
    if (operation[member] !== undefined) Object.assign(after, { [member]: operation[member] || null });
  }
  errors.push(...valueErrors(batch, after, before));
  if (errors.length > 0) throw invalidFields(errors);
  if (!before) requireManage(batch.ctx, batch.cards.get(after.source_id)!, batch.cards.get(after.target_id)!);
  const holder = after.external_id === null ? undefined : batch.byExternalId.get(after.external_id);
  if (holder && holder.id !== after.id) throw externalIdTaken(after.external_id!);
  if (before && Object.keys(differingMembers(before, after)).length === 0) {
    return { status: 'unchanged', id: before.id };
  }
  put(batch, before, after);
  const changes = rowChanges(before ? shown(batch, before) : null, shown(batch, after), [
    'created_at',
    'updated_at',
  ]);
  return { status: before ? 'updated' : 'created', id: after.id, changes };
}

/** A flow without the interface and data objects that the caller does not see. */
function shown({ cards }: Batch, flow: DataFlowRow): DataFlowRow {
  const over = flow.interface_id;
  return {
    ...flow,
    interface_id: over && cards.has(over) ? over : null,
    data_object_ids: flow.data_object_ids.filter((id) => cards.has(id)),
  };
}

/** The error for an external id that another flow has. */
export const externalIdTaken = (externalId: string): EstateError =>
  new EstateError('external_id_taken', `A data flow with the external id ${externalId} exists.`);

const emptyFlow = (id: string): DataFlowRow => ({
  id,
  source_id: '',
  target_id: '',
  interface_id: null,
  data_object_ids: [],
  direction: 'forward',
  frequency: null,
  description: null,
  external_id: null,
  created_at: '',
  updated_at: '',
});

/** Checks that the caller sees both ends of a flow and may change it. @throws EstateError `not_found`, `forbidden`. */
function requireChangeable({ cards, ctx }: Batch, flow: DataFlowRow): void {
  const [source, target] = [cards.get(flow.source_id), cards.get(flow.target_id)];
  if (!source || !target) {
    throw may(ctx.caller, 'inventory.view') ? notFound('data flow', flow.id) : forbidden('inventory.view');
  }
  requireManage(ctx, source, target);
}

/** Sets the cards of a flow. @returns the errors of those that do not fit. */
function setCards(
  batch: Batch,
  operation: FlowOperation,
  before: DataFlowRow | undefined,
  after: DataFlowRow,
): FieldError[] {
  const { fields, cards, ctx, work } = batch;
  const errors: FieldError[] = [];
  const cardOf = (
    part: FlowPart,
    ref: CardRef,
    isFitting: (type: string) => boolean,
    wanted: string,
    at = '',
  ) => {
    const field = `${fields[part]}${at}`;
    const found = batch.resolved.get(ref)!;
    const card = 'id' in found ? cards.get(found.id) : undefined;
    if (!card) {
      if (!may(ctx.caller, 'inventory.view')) throw forbidden('inventory.view');
      const why = 'error' in found ? found.error : 'missing';
      errors.push({
        field,
        code: why === 'missing' ? 'unknown_card' : `reference_${why}`,
        message: refErrors[why],
      });
    } else if (!isFitting(card.type)) {
      errors.push({ field, code: 'card_type', message: `must be ${wanted}` });
    } else if (card.status !== 'ACTIVE') {
      errors.push({ field, code: 'card_archived', message: 'is archived' });
    } else return card.id;
    return undefined;
  };
  const isEnd = (type: string) => work.metamodel.cardTypes.get(type)?.has_data_flows ?? false;
  for (const part of ['source', 'target'] as const) {
    const ref = operation[part];
    if (!ref) {
      if (!before)
        errors.push({ field: fields[part], code: 'required', message: 'is needed for a new data flow' });
      continue;
    }
    const id = cardOf(part, ref, isEnd, 'a card of a type with has_data_flows');
    if (id && before && id !== before[`${part}_id`]) {
      errors.push({ field: fields[part], code: 'end_differs', message: 'the data flow has another card' });
    } else if (id) after[`${part}_id`] = id;
  }
  if (after.source_id !== '' && after.source_id === after.target_id) {
    errors.push({ field: fields.target, code: 'same_card', message: 'is the same card as the source' });
  }
  // what the caller does not see is retained
  const isShown = (id: string) => cards.get(id)?.status === 'ACTIVE';
  const { interface: over, data_objects: objects } = operation;
  if (over) {
    after.interface_id =
      cardOf('interface', over, (type) => type === INTERFACE, `a card of the type ${INTERFACE}`) ?? null;
  } else if (over === null && after.interface_id && isShown(after.interface_id)) after.interface_id = null;
  if (objects !== undefined) {
    const given = (objects ?? []).flatMap(
      (ref, n) =>
        cardOf(
          'data_objects',
          ref,
          (type) => type === DATA_OBJECT,
          `a card of the type ${DATA_OBJECT}`,
          `.${n}`,
        ) ?? [],
    );
    const hidden = after.data_object_ids.filter((id) => !isShown(id));
    after.data_object_ids = [...new Set([...given, ...hidden])].sort();
    if (given.length > MAX_DATA_OBJECTS) {
      errors.push(fieldError(fields.data_objects, 'too_many', `has more than ${MAX_DATA_OBJECTS} items`));
    }
  }
  return errors;
}

/** The errors of the other members; values that are not changed are not checked. */
function valueErrors({ frequencies }: Batch, after: DataFlowRow, before?: DataFlowRow): FieldError[] {
  const { frequency } = after;
  if (frequency === null || frequency === before?.frequency) return [];
  if (frequencies.some(({ key }) => key === frequency)) return [];
  const keys = frequencies.map(({ key }) => key).join(', ');
  return [fieldError('frequency', 'unknown_option', `is none of ${keys}`)];
}

/** Notes a write, after those of the same row before. */
function put(batch: Batch, before: DataFlowRow | undefined, after: DataFlowRow | null): void {
  const { id } = (after ?? before)!;
  const first = batch.writes.get(id)?.before ?? (batch.writes.has(id) ? null : (before ?? null));
  if (before?.external_id) batch.byExternalId.delete(before.external_id);
  if (after) {
    batch.byId.set(id, after);
    if (after.external_id) batch.byExternalId.set(after.external_id, after);
  } else batch.byId.delete(id);
  if (first === null && after === null) batch.writes.delete(id);
  else batch.writes.set(id, { before: first, after });
}

/** The columns that updates write. */
const written = [
  'interface_id',
  'data_object_ids',
  'direction',
  'frequency',
  'description',
  'external_id',
] as const;

/** Writes flows in a statement of each kind: deletions come first, since they free external ids. */
async function write(work: Work, writes: readonly FlowWrite[]): Promise<void> {
  const { sql } = work;
  const deleted = writes.flatMap(({ before, after }) => (after === null ? before!.id : []));
  const created = writes.flatMap(({ before, after }) => (before === null ? after! : []));
  const updated = writes.flatMap(({ before, after }) => (before && after ? after : []));
  if (deleted.length > 0) await deleteRows(sql, DataFlow, (rows) => rows.whereIn('id', deleted));
  await updateRows(sql, DataFlow, updated, written);
  const rows = await insertRows(
    sql,
    DataFlow,
    created.map(({ created_at: _c, updated_at: _u, ...row }) => row),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  await emitFlows(
    work,
    writes.map(({ before, after }) => ({ before, after: after && (byId.get(after.id) ?? after) })),
  );
}
