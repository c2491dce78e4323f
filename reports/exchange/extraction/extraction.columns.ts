import type { Ctx } from '../../../domain/kernel/context.ts';
import { type FieldType, lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Column, ColumnType } from '../../kernel/formats/formats.types.ts';

/** `report` for people, `roundtrip` for a file that can be imported again. */
export type Profile = 'report' | 'roundtrip';

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

const identity = [key('id'), text('type'), text('subtype'), text('external_id'), text('name'), text('alias')];
const described = [text('description'), key('parent_id'), text('parent_external_id')];
const states = [key('status'), key('approval_status')];
/** The column that needs `stakeholders.view`. */
export const STAKEHOLDERS = 'stakeholders';
const labels = (ctx: Ctx): Column[] => [
  { header: 'tags', type: 'multi' },
  ...(may(ctx.caller, 'stakeholders.view') ? [{ header: STAKEHOLDERS, type: 'multi' } as const] : []),
];
const facts: Column[] = [
  { header: 'data_quality', type: 'number' },
  { header: 'created_at', type: 'datetime' },
  { header: 'updated_at', type: 'datetime' },
];

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
export function cardColumns(ctx: Ctx, types: string[], profile: Profile, costs: boolean): Column[] {
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
    text(`${end}_external_id`),
    ...(profile === 'report' ? [text(`${end}_name`), text(`${end}_type`)] : []),
  ]);
  const attributes = attributeColumns(ctx.metamodel.relationTypes, types, costs);
  return [key('id'), text('type'), ...ends, text('description'), ...attributes];
}

/** The chosen columns in the chosen order; all columns if none are chosen. @throws EstateError naming an unknown one. */
export function chooseColumns(all: Column[], chosen: string[] | undefined): Column[] {
  if (!chosen || chosen.length === 0) return all;
  const byName = new Map(all.map((column) => [column.header, column]));
  return chosen.map((header, n) => {
    const column = byName.get(header);
    if (!column) throw invalidField(`columns.${n}`, 'unknown_column', `there is no column "${header}"`);
    return column;
  });
}
