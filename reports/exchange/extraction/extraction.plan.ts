import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { cardOrder } from '../../../domain/inventory/cards/cards.list.ts';
import { prepareFilter } from '../../../domain/inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { checkPosition, feedEnds } from '../../../domain/kernel/events/changes.ts';
import type { Fragment, Order } from '../../../domain/kernel/lists/lists.types.ts';
import { type FieldType, lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { forbidden, inScope, may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column, ColumnType } from '../../kernel/formats/formats.types.ts';
import { changedSince } from './changes.ts';
import { type CardSelection, changeColumns, type RelationSelection } from './extraction.rows.ts';

/** `report` for people, `roundtrip` for a file that can be imported again. */
type Profile = 'report' | 'roundtrip';

const typeOf: Record<FieldType, ColumnType> = {
  text: 'text',
  multiline_text: 'text',
  url: 'text',
  single_select: 'text',
  multiple_select: 'multi',
  number: 'number',
  cost: 'number',
  boolean: 'boolean',
  date: 'date',
};

const text = (header: string): Column => ({ header, type: 'text' });
/** An id or an enumeration value. */
const key = (header: string): Column => ({ header, type: 'key' });

const identity = [
  key('id'),
  key('number'),
  text('type'),
  text('subtype'),
  text('external_id'),
  text('name'),
  text('alias'),
];
const described = [text('description'), key('parent_id'), key('parent_number'), text('parent_external_id')];
const states = [key('status'), key('approval_status')];
/** The column that needs `stakeholders.view`. */
const STAKEHOLDERS = 'stakeholders';
const labels = (ctx: Ctx): Column[] => [
  { header: 'tags', type: 'multi' },
  ...(may(ctx.caller, 'stakeholders.view') ? [{ header: STAKEHOLDERS, type: 'multi' } as const] : []),
];
const facts: Column[] = [
  { header: 'data_quality', type: 'number' },
  { header: 'created_at', type: 'datetime' },
  { header: 'updated_at', type: 'datetime' },
];

/** The column of an attribute. */
export const attributeColumn = ({ key, type }: { key: string; type: FieldType }): Column => ({
  header: `attributes.${key}`,
  type: typeOf[type],
  ...(type === 'cost' && { money: true }),
});

/**
 * Columns of the attributes of the given types, one per key; a key with different field types becomes text.
 * @param costs whether cost attributes are included.
 */
function attributeColumns(
  types: ReadonlyMap<string, { fields: ReadonlyMap<string, { type: FieldType }> }>,
  keys: readonly string[],
  costs: boolean,
): Column[] {
  const columns = new Map<string, Column>();
  for (const [key, field] of keys.flatMap((type) => [...types.get(type)!.fields])) {
    if (field.type === 'cost' && !costs) continue;
    const before = columns.get(key);
    const type = before === undefined || before.type === typeOf[field.type] ? typeOf[field.type] : 'text';
    const isMoney = field.type === 'cost' && (before === undefined || before.money === true);
    columns.set(key, { header: `attributes.${key}`, type, ...(isMoney ? { money: true } : {}) });
  }
  return [...columns.values()];
}

/**
 * All columns of cards of the types, in order. Without cost attributes for callers who may not see any costs, and
 * without stakeholders for callers without `stakeholders.view`.
 */
function cardColumns(ctx: Ctx, types: string[], profile: Profile, costs: boolean): Column[] {
  const lifecycle = lifecyclePhases.map((phase): Column => ({ header: `lifecycle.${phase}`, type: 'date' }));
  const isReport = profile === 'report';
  return [
    ...identity,
    ...described,
    text(isReport ? 'parent_name' : 'parent_path'),
    ...states,
    ...(isReport ? facts : []),
    ...lifecycle,
    ...labels(ctx),
    ...attributeColumns(ctx.metamodel.cardTypes, types, costs),
  ];
}

/** All columns of relations of the types, in order. */
export function relationColumns(ctx: Ctx, types: string[], profile: Profile, costs: boolean): Column[] {
  const ends = ['source', 'target'].flatMap((end) => [
    key(`${end}_id`),
    key(`${end}_number`),
    text(`${end}_external_id`),
    ...(profile === 'report' ? [text(`${end}_name`), text(`${end}_type`)] : []),
  ]);
  const attributes = attributeColumns(ctx.metamodel.relationTypes, types, costs);
  return [key('id'), text('type'), ...ends, text('description'), ...attributes];
}

/** All columns of costs, in order: those that imports read, and for reports further ones. */
function costColumns(profile: Profile): Column[] {
  const names = [key('card_number'), text('card_type'), text('card_external_id'), text('card_name')];
  const ends = [text('relation_type'), key('source_id'), key('target_id')];
  return [
    key('id'),
    text('external_id'),
    key('card_id'),
    ...names,
    key('relation_id'),
    ...(profile === 'report' ? ends : []),
    text('kind'),
    { header: 'period_start', type: 'date' },
    { header: 'period_end', type: 'date' },
    { header: 'amount', type: 'number' },
    text('currency'),
    text('description'),
    ...(profile === 'report' ? [{ header: 'created_at', type: 'datetime' } as const] : []),
  ];
}

/** All columns of data flows, in order: those that imports read, and for reports further ones. */
function flowColumns(profile: Profile): Column[] {
  const end = (name: string) => [
    key(`${name}_id`),
    key(`${name}_number`),
    text(`${name}_type`),
    text(`${name}_external_id`),
    text(`${name}_name`),
  ];
  return [
    key('id'),
    text('external_id'),
    ...end('source'),
    ...end('target'),
    key('interface_id'),
    key('interface_number'),
    text('interface_external_id'),
    text('interface_name'),
    { header: 'data_object_ids', type: 'multi' },
    { header: 'data_object_names', type: 'multi' },
    key('direction'),
    text('frequency'),
    text('description'),
    ...(profile === 'report' ? [{ header: 'created_at', type: 'datetime' } as const] : []),
  ];
}

/** Each workspace gives its own numbers, so that a file for another one has them only if they are chosen. */
const isNumber = ({ header }: Column): boolean => /^(\w+_)?number$/.test(header);

/** The chosen columns in the chosen order; all columns if none are chosen. @throws EstateError naming an unknown or repeated one. */
function chooseColumns(all: Column[], { columns: chosen, profile, layout }: ExportRequest): Column[] {
  // in a workbook one way to name a parent is enough for people
  const isOmitted = (column: Column) =>
    (profile === 'roundtrip' && isNumber(column)) ||
    (isWorkbook({ layout }) && column.header === 'parent_external_id');
  if (chosen.length === 0) return all.filter((column) => !isOmitted(column));
  const byName = new Map(all.map((column) => [column.header, column]));
  return chosen.map((header, n) => {
    const column = byName.get(header);
    if (!column) throw invalidField(`columns.${n}`, 'unknown_column', `there is no column "${header}"`);
    if (chosen.indexOf(header) < n)
      throw invalidField(`columns.${n}`, 'repeated_column', `"${header}" is chosen more than once`);
    return column;
  });
}

/** A checked request: the selected objects and the columns. */
export interface ExtractionPlan {
  request: ExportRequest;
  cards: CardSelection;
  relations: RelationSelection;
  columns: Column[];
  /** Of cards; by id without it. */
  order?: Order | undefined;
  /** With `after`: the statement that finds what may have changed, see `RowSource`. */
  findChanged?: (snapshot: Snapshot) => Promise<Fragment>;
}

/** Whether the caller may see any cost value at all: by permission, or by a role on some card. */
export async function seesSomeCosts(ctx: Ctx): Promise<boolean> {
  if (may(ctx.caller, 'costs.view')) return true;
  if (!inScope(ctx.caller, 'costs.view')) return false;
  return Boolean(await ctx.db('stakeholders').where({ user_id: ctx.caller.userId }).first('id'));
}

/**
 * The named types, or all visible ones. A hidden one has its columns and no rows, as in lists.
 * @throws EstateError naming one that is unknown.
 */
function chooseTypes(given: string[], visible: string[], all: ReadonlyMap<string, unknown>): string[] {
  if (given.length === 0) return visible;
  for (const [n, type] of given.entries()) {
    if (!all.has(type)) throw invalidField(`types.${n}`, 'unknown_type', `there is no type "${type}"`);
  }
  return [...new Set(given)];
}

/** Whether a request is for a workbook with a sheet per card type, to be edited and imported again. */
export const isWorkbook = ({ layout }: Pick<ExportRequest, 'layout'>): boolean => layout === 'sheet_per_type';

/** @throws EstateError naming a member that the layout does not go with. */
function checkLayout({ layout, headers, format, kind, after }: ExportRequest): void {
  if (!isWorkbook({ layout })) {
    if (headers !== 'labels') return;
    const message =
      'is only supported with layout=sheet_per_type: in one sheet, fields of several types can have one label';
    throw invalidField('headers', 'only_sheet_per_type', message);
  }
  if (format !== 'xlsx' || kind !== 'cards')
    throw invalidField(
      'layout',
      'only_xlsx',
      'is only supported for cards in xlsx; the workbook has a sheet of relations',
    );
  if (after !== undefined) throw invalidField('layout', 'not_with_after', 'is not supported with after');
}

/**
 * Checks a request against the metamodel and the caller's rights.
 * @throws EstateError `validation_failed` by field, `forbidden` for a filter or a column that the caller may not see,
 * `position_expired`.
 */
export async function planExtraction(ctx: Ctx, given: ExportRequest): Promise<ExtractionPlan> {
  const { metamodel } = ctx;
  checkLayout(given);
  const request: ExportRequest = isWorkbook(given) ? { ...given, profile: 'roundtrip' } : given;
  const ofCosts = request.kind === 'costs';
  const ofFlows = request.kind === 'data_flows';
  const ofCards = request.kind !== 'relations';
  if (request.include.length > 0 && request.after !== undefined) {
    throw invalidField('include', 'not_with_after', 'is not supported with after');
  }
  if (request.include.length > 0 && (request.format !== 'xlsx' || request.kind !== 'cards')) {
    const message = 'is only supported for cards in xlsx; export relations by kind=relations';
    throw invalidField('include', 'only_xlsx', message);
  }
  if (request.format === 'csv' && request.profile === 'roundtrip' && !request.neutralise) {
    throw invalidField('neutralise', 'not_with_roundtrip', 'must be true: imports remove one apostrophe');
  }
  if ((!ofCards || ofFlows || request.include.includes('relations')) && !may(ctx.caller, 'relations.view')) {
    throw forbidden('relations.view');
  }
  if (request.columns.includes(STAKEHOLDERS) && !may(ctx.caller, 'stakeholders.view')) {
    throw forbidden('stakeholders.view');
  }
  if (ofCosts) requirePermission(ctx.caller, 'costs.view');
  const filter = await prepareFilter(ctx, request.filter);
  const costs = await seesSomeCosts(ctx);
  const { visibleTypes, cardTypes } = metamodel;
  const types = ofCards ? chooseTypes(request.types, visibleTypes, cardTypes) : visibleTypes;
  const cards: CardSelection = { types, conditions: filter ? [filter] : [] };
  const relationTypes = ofCards
    ? metamodel.visibleRelationTypes
    : chooseTypes(request.types, metamodel.visibleRelationTypes, metamodel.relationTypes);
  const all = ofCosts
    ? costColumns(request.profile)
    : ofFlows
      ? flowColumns(request.profile)
      : ofCards
        ? cardColumns(ctx, cards.types, request.profile, costs)
        : relationColumns(ctx, relationTypes, request.profile, costs);
  const chosen = chooseColumns(all, request);
  const columns = isWorkbook(request) ? [...idColumns(chosen, request.kind), ...chosen] : chosen;
  const relations: RelationSelection = { types: relationTypes, cards };
  const order = orderOf(ctx, request, cards.types);
  if (request.after === undefined) return { request, cards, relations, columns, order };
  // ids of deleted objects are shown, as in the change feed
  requirePermission(ctx.caller, 'inventory.view');
  const after = checkPosition(request.after, await feedEnds(ctx.db), 'after');
  return {
    request,
    cards,
    relations,
    findChanged: (snapshot) =>
      changedSince(snapshot, ctx, request, { after, cardTypes: cards.types, relationTypes }),
    // a deleted object has no other columns
    columns: [...idColumns(columns, request.kind), ...columns, ...changeColumns],
  };
}

/** The order that is asked for. @throws EstateError for one that the list of cards has not. */
function orderOf(
  ctx: Ctx,
  { kind, after, sort_by, sort_dir }: ExportRequest,
  types: string[],
): Order | undefined {
  if (sort_by === undefined) return undefined;
  if (kind !== 'cards') throw invalidField('sort_by', 'only_cards', 'is only supported for cards');
  if (after !== undefined) throw invalidField('sort_by', 'not_with_after', 'is not supported with after');
  return cardOrder(ctx, { sort_by, ...(sort_dir && { sort_dir }) }, types);
}

/** The columns that identify a row, unless they were chosen. */
function idColumns(columns: Column[], kind: ExportRequest['kind']): Column[] {
  const named: Column[] = [
    { header: 'id', type: 'key' },
    ...(kind === 'costs' || kind === 'data_flows' ? [] : [{ header: 'type', type: 'text' } as const]),
  ];
  return named.filter(({ header }) => !columns.some((column) => column.header === header));
}
