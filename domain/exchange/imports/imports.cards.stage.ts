import { embed, query, type Sql } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import { cleanName } from '../../../platform/storable.ts';
import { hasLevels, LEVEL_FIELD, MACRO } from '../../inventory/cards/rules/capability.ts';
import type { CardInput } from '../../inventory/cards/rules/diff.ts';
import { cleanCardInput, validateCardInput } from '../../inventory/cards/rules/values.ts';
import type { RelationInput } from '../../inventory/relations/relations.model.ts';
import { validateRelationInput } from '../../inventory/relations/relations.rules.ts';
import { unknownChoice } from '../../kernel/choices.ts';
import type { Ctx } from '../../kernel/context.ts';
import { presentAttributes } from '../../kernel/metamodel/deprecations.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { may, showsCosts } from '../../kernel/permissions/policy.ts';
import type { CardPayload, StagedCard } from './imports.cards.types.ts';
import { type StagedCost, stageCost } from './imports.costs.stage.ts';
import { type StagedFlow, stageFlow } from './imports.flows.stage.ts';
import type { ImportPayload } from './imports.job.ts';
import { refuseOtherExternalIds, resolveNumbers } from './imports.numbers.ts';
import { readEmails, readUserIds, resolveStakeholders } from './imports.people.ts';
import { costErrors, missingPermission } from './imports.rights.ts';
import type { CardRowValues, ImportKind, ImportRow } from './imports.row.ts';
import { readTagCatalogue, resolveTags, type TagCatalogue, type TagsToCreate } from './imports.tags.ts';
import type { RowOutcome } from './imports.types.ts';

/** The table with the staged rows of a kind. */
export const rowsTable: Record<ImportKind, string> = {
  cards: 'import_card_rows',
  relations: 'import_relation_rows',
  costs: 'import_cost_rows',
  data_flows: 'import_flow_rows',
};

/** The table with the plan of a kind. */
export const planTable: Record<ImportKind, string> = {
  cards: 'import_card_plan',
  relations: 'import_relation_plan',
  costs: 'import_cost_plan',
  data_flows: 'import_flow_plan',
};

/** Writes staged rows in one statement. */
export async function storeRows(
  sql: Sql,
  jobId: string,
  kind: ImportKind,
  rows: StagedRows[ImportKind][],
): Promise<void> {
  const table = embed(rowsTable[kind]);
  await query(sql).run`insert into ${table} select * from json_populate_recordset(
     jsonb_populate_record(null::${table}, jsonb_build_object('job_id', ${jobId}::uuid)), ${JSON.stringify(rows)}::json)`;
}

/** How many rows of the file are staged. */
export async function countRows(sql: Sql, jobId: string, kind: ImportKind): Promise<number> {
  return await query(sql).value`select count(*)::int as n from ${embed(rowsTable[kind])}
    where job_id = ${jobId}`;
}

/** Stores the outcomes of rows, in one statement. */
export async function storeOutcomes(sql: Sql, jobId: string, outcomes: RowOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  await query(sql).run`insert into import_outcomes (job_id, line, outcome, errors, changes, created_tags)
     select ${jobId}::uuid, v.line, v.outcome, v.errors, v.changes, v.created_tags
     from jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) as v(line integer, outcome text,
     errors jsonb, changes jsonb, created_tags jsonb)`;
}

/** The staged rows of each kind. */
interface StagedRows {
  cards: StagedCard;
  relations: StagedRelation;
  costs: StagedCost;
  data_flows: StagedFlow;
}

/** Converts parsed rows to staged rows: checks everything that does not depend on other rows or cards. */
type Stager<K extends ImportKind> = (sql: Sql, rows: ImportRow<K>[]) => Promise<StagedRows[K][]>;

/** Finds the cards that rows name in several ways, which must agree. */
async function resolveCards(ctx: Ctx, sql: Sql, rows: readonly ImportRow[]): Promise<void> {
  await resolveNumbers(ctx, sql, rows);
  await refuseOtherExternalIds(ctx, sql, rows);
}

type StageOptions = Pick<ImportPayload, 'create_tags'>;

const stagers: { [K in ImportKind]: (ctx: Ctx, db: Sql, options: StageOptions) => Promise<Stager<K>> } = {
  costs: async (ctx) => async (sql, rows) => {
    await resolveCards(ctx, sql, rows);
    return rows.map(stageCost);
  },
  data_flows: async (ctx) => async (sql, rows) => {
    await resolveCards(ctx, sql, rows);
    return rows.map(stageFlow);
  },
  relations: async (ctx) => async (sql, rows) => {
    await resolveCards(ctx, sql, rows);
    const types = await typesOfIds(sql, 'relations', rows);
    return rows.map((row) => stageRelation(ctx, row, types));
  },
  async cards(ctx, db, { create_tags }) {
    const catalogue = await readTagCatalogue(db);
    const creating: TagsToCreate | undefined = create_tags ? new Map() : undefined;
    let known: string[] | undefined;
    return async (sql, rows) => {
      await resolveCards(ctx, sql, rows);
      const types = await typesOfIds(sql, 'cards', rows);
      const emails = rows.flatMap(({ values }) => (values.stakeholders ?? []).map(({ email }) => email));
      const users = await readUserIds(sql, emails);
      if (emails.some((email) => !users.has(email.toLowerCase()))) known ??= await readEmails(sql);
      return rows.map((row) => stageCard(ctx, row, { catalogue, creating, users, emails: known, types }));
    };
  },
};

/** Creates the stager of a kind. The tags of the workspace are read once. */
export const createStager = <K extends ImportKind>(
  ctx: Ctx,
  db: Sql,
  kind: K,
  options: StageOptions = {},
): Promise<Stager<K>> => stagers[kind](ctx, db, options);

/** The types of cards or relations that rows identify by their id only. */
async function typesOfIds(
  sql: Sql,
  table: 'cards' | 'relations',
  rows: ImportRow<'cards' | 'relations'>[],
): Promise<Map<string, string>> {
  const ids = rows.flatMap(({ values }) => (values.id && values.type === undefined ? [values.id] : []));
  if (ids.length === 0) return new Map();
  const found: { id: string; type: string }[] = await sql(table).whereIn('id', ids).select('id', 'type');
  return new Map(found.map(({ id, type }) => [id, type]));
}

/** The data that is needed to stage rows of cards. */
interface StageContext {
  catalogue: TagCatalogue;
  creating?: TagsToCreate;
  users: ReadonlyMap<string, string>;
  emails?: readonly string[];
  /** The types of cards that rows identify by id only. */
  types: ReadonlyMap<string, string>;
}

/** Converts a parsed row to a staged row. */
function stageCard(ctx: Ctx, row: ImportRow<'cards'>, around: StageContext): StagedCard {
  const { values } = row;
  const errors = [...row.errors];
  const staged: StagedCard = {
    line: row.line,
    type: typeOfRow(values, around.types),
    id: values.id ?? null,
    external_id: cleanName(values.external_id ?? '') || null,
    name: cleanName(values.name ?? '') || null,
    status: values.status ?? null,
    ...parentOf(values),
    level: null,
    errors: null,
    new_errors: null,
    bytes: 0,
    payload: null,
  };
  const type = staged.type === null ? undefined : ctx.metamodel.cardTypes.get(staged.type);
  if (type && !type.is_hidden) {
    const newErrors = check(ctx, type, values, staged, errors, around);
    staged.new_errors = newErrors.length > 0 ? newErrors : null;
  } else errors.push(...typeErrors(staged.type, values, errors, 'card', ctx.metamodel));
  if (errors.length > 0) {
    staged.errors = errors;
    staged.payload = null;
  }
  staged.bytes = staged.payload ? JSON.stringify(staged.payload).length : 0;
  return staged;
}

function parentOf(
  values: CardRowValues,
): Pick<StagedCard, 'parent_by' | 'parent_id' | 'parent_external_id' | 'parent_path'> {
  const none = {
    ...{ parent_by: null, parent_id: null, parent_external_id: null },
    parent_path: values.parent_path ?? null,
  };
  if (values.parent_id) return { ...none, parent_by: 'id', parent_id: values.parent_id };
  if (values.parent_external_id) {
    return { ...none, parent_by: 'external_id', parent_external_id: values.parent_external_id };
  }
  if (values.parent_path) return { ...none, parent_by: 'path' };
  return values.parent_id === null ? { ...none, parent_by: 'root' } : none;
}

/** The column by which the row names its parent. */
export function parentColumn(by: StagedCard['parent_by']): string {
  return by === 'external_id' ? 'parent_external_id' : by === 'path' ? 'parent_path' : 'parent_id';
}

/**
 * Checks the row for its type, adds to `errors` and completes `staged`.
 * @returns the errors that only apply if the row creates a card.
 */
function check(
  ctx: Ctx,
  type: CardType,
  values: CardRowValues,
  staged: StagedCard,
  errors: FieldError[],
  around: StageContext,
): FieldError[] {
  const input = withoutCalculated(type, inputOf(ctx, type, values));
  const later: FieldError[] = [];
  const invalidFields = new Set(errors.map(({ field }) => field));
  for (const error of validateCardInput(ctx.metamodel, type.key, input, { creating: true })) {
    if (invalidFields.has(error.field)) continue;
    const missing = error.field === 'name' && input.name === undefined;
    // An existing card has a name, and its readonly values may be sent unchanged.
    if (missing || error.code === 'readonly') later.push(error);
    else errors.push(error);
  }
  if (staged.parent_by !== null && staged.parent_by !== 'root' && !type.has_hierarchy) {
    const message = `cannot be set: cards of the type ${type.key} form no hierarchy`;
    errors.push({ field: parentColumn(staged.parent_by), code: 'parent_type', message });
  }
  const payload: CardPayload = { input };
  if (values.status !== undefined) payload.status = values.status;
  if (values.approval_status !== undefined) payload.approval_status = values.approval_status;
  if (values.tags !== undefined) {
    const { catalogue, creating } = around;
    const tags = resolveTags(catalogue, type, values.tags ?? [], creating);
    payload.tags = tags.ids;
    if (tags.created.length > 0) payload.new_tags = tags.created;
    staged.warnings = tags.warnings;
    errors.push(...tags.errors);
  }
  if (values.stakeholders !== undefined) {
    const { users, emails } = around;
    const named = values.stakeholders ?? [];
    const { holders, errors: invalid } = resolveStakeholders(users, type, named, emails);
    payload.holders = holders;
    errors.push(...invalid);
  }
  takeLevel(type, input, staged);
  staged.payload = payload;
  later.push(...refusedForNew(ctx, type, payload));
  return later;
}

/** Removes calculated values, which exported rows contain. */
function withoutCalculated(type: CardType, input: CardInput): CardInput {
  if (!input.attributes) return input;
  const own = Object.entries(input.attributes).filter(([key]) => !type.fields.get(key)?.calculated);
  return { ...input, attributes: Object.fromEntries(own) };
}

/**
 * Removes the capability level from the input: it follows from the hierarchy. A row only sets whether a root is a Macro.
 */
function takeLevel(type: CardType, input: CardInput, staged: StagedCard): void {
  if (!hasLevels(type) || !input.attributes) return;
  const { [LEVEL_FIELD]: level, ...attributes } = input.attributes;
  if (level === MACRO || level === 'L1') staged.level = level;
  input.attributes = attributes;
}

/** The values of the row, without parent and level. */
function inputOf({ metamodel }: Ctx, type: CardType, values: CardRowValues): CardInput {
  const { subtype, name, alias, description, external_id, lifecycle } = values;
  const given = Object.entries({ subtype, name, alias, description, external_id, lifecycle });
  const input: CardInput = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  if (values.attributes !== undefined) {
    const attributes = values.attributes && { ...values.attributes };
    // Fields that the type does not have need not be cleared.
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === null && !type.fields.has(key)) delete attributes![key];
    }
    input.attributes = presentAttributes(metamodel, { kind: 'card', type: type.key }, attributes);
  }
  return cleanCardInput(input);
}

/** The values that the caller may not set on a new card. */
function refusedForNew(ctx: Ctx, type: CardType, payload: CardPayload): FieldError[] {
  const errors: FieldError[] = [];
  const { caller } = ctx;
  if (!may(caller, 'costs.view')) errors.push(...costErrors(type, payload.input));
  if (payload.status === 'ARCHIVED' && !may(caller, 'inventory.archive')) {
    errors.push(missingPermission('status', 'inventory.archive'));
  }
  const approval = payload.approval_status ?? 'DRAFT';
  if (approval !== 'DRAFT' && !may(caller, 'inventory.approval_status')) {
    errors.push(missingPermission('approval_status', 'inventory.approval_status'));
  }
  if (payload.holders?.length && !may(caller, 'stakeholders.manage')) {
    errors.push(missingPermission('stakeholders', 'stakeholders.manage'));
  } else if (payload.holders?.some(({ role }) => showsCosts(role)) && !may(caller, 'costs.view')) {
    errors.push(missingPermission('stakeholders', 'costs.view'));
  }
  return errors;
}

/** A row of `import_relation_rows`. */
interface StagedRelation {
  line: number;
  type: string | null;
  id: string | null;
  source_id: string | null;
  source_external_id: string | null;
  target_id: string | null;
  target_external_id: string | null;
  errors: FieldError[] | null;
  bytes: number;
  /** Null for a row that has failed. */
  payload: RelationInput | null;
}

/** Converts a parsed row to a staged row. @param types the types of relations that rows identify by id only. */
function stageRelation(
  ctx: Ctx,
  { line, values, errors: read }: ImportRow<'relations'>,
  types: ReadonlyMap<string, string>,
): StagedRelation {
  const errors = [...read];
  const key = typeOfRow(values, types);
  const isVisible = key !== null && ctx.metamodel.visibleRelationTypes.includes(key);
  const type = isVisible ? ctx.metamodel.relationTypes.get(key) : undefined;
  const input: RelationInput = {};
  if (values.description !== undefined) input.description = values.description;
  if (values.attributes !== undefined) {
    const of = { kind: 'relation', type: key ?? '' } as const;
    input.attributes = presentAttributes(ctx.metamodel, of, values.attributes);
  }
  if (type) errors.push(...validateRelationInput(type, input));
  else errors.push(...typeErrors(key, values, errors, 'relation', ctx.metamodel));
  return {
    line,
    type: key,
    id: values.id ?? null,
    source_id: values.source_id ?? null,
    source_external_id: values.source_external_id ?? null,
    target_id: values.target_id ?? null,
    target_external_id: values.target_external_id ?? null,
    errors: errors.length > 0 ? errors : null,
    bytes: JSON.stringify(input).length,
    payload: errors.length > 0 ? null : input,
  };
}

/** The type that a row names, or that the card or relation with its id has. */
function typeOfRow(
  { type, id }: { type?: string; id?: string },
  types: ReadonlyMap<string, string>,
): string | null {
  return type ?? (id ? types.get(id) : undefined) ?? null;
}

/** Why the type of a row is not valid, unless parsing has reported that already. */
function typeErrors(
  key: string | null,
  { id }: { id?: string },
  read: readonly FieldError[],
  noun: 'card' | 'relation',
  { visibleTypes, visibleRelationTypes }: Metamodel,
): FieldError[] {
  if (key !== null) {
    const error = { field: 'type', code: 'unknown_type', message: `is no ${noun} type` };
    return [unknownChoice(error, key, noun === 'card' ? visibleTypes : visibleRelationTypes)];
  }
  const isReported = !id || read.some(({ field }) => field === 'type');
  return isReported ? [] : [{ field: 'id', code: 'unknown_id', message: `is no ${noun}` }];
}
