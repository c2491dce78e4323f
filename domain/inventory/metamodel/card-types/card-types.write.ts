import { EstateError } from '../../../../platform/errors.ts';
import type { Work } from '../../../kernel/context.ts';
import { rowEvent } from '../../../kernel/events/row-changes.ts';
import { compileField } from '../../../kernel/metamodel/metamodel.compile.ts';
import { CardTypeDefinition, type CardTypeRow } from '../../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../../kernel/metamodel/metamodel.store.ts';
import { updateRow } from '../../../kernel/resources/rows.ts';
import { CAPABILITY_TYPE, LEVEL_FIELD, levelOptions } from '../../cards/rules/capability.ts';
import type { ChangeRun, Impact } from '../changes/changes.types.ts';
import { countRows, measureValues, refuseMisfits } from '../changes/impact.ts';
import { restateInventory } from '../changes/restate.ts';
import { type Fields, minus, valueChanges } from '../changes/values.diff.ts';

/** Emits the event of one written card type. */
export function emitCardType(work: Work, before: CardTypeRow | null, after: CardTypeRow | null): void {
  const { key, label } = (after ?? before)!;
  work.emit(rowEvent('card_type', before, after, { id: key, key, label }));
  work.raise(METAMODEL_TOPIC);
}

/**
 * Writes the changed columns of a card type and updates its cards accordingly. `besides` writes other parts of the
 * same change, such as roles, before the cards.
 * @throws EstateError `built_in_frozen`, `values_do_not_fit`; LargeChange.
 */
export async function writeCardType(
  run: ChangeRun,
  before: CardTypeRow,
  changed: Partial<CardTypeRow>,
  besides: () => Promise<void> = async () => undefined,
): Promise<Impact> {
  const { work } = run;
  const type = before.key;
  const after = { ...before, ...changed };
  const fields = { before: fieldsOf(before), after: fieldsOf(after) };
  refuseFrozenLevels(type, fields.before, fields.after);
  const values = valueChanges(fields.before, fields.after);
  const holder = { table: 'cards', type } as const;
  const asked = run.dryRun ? values : { ...values, removed: [], options: [] };
  const measured = await measureValues(run, holder, asked);
  refuseMisfits(run, measured);
  const removedSubtypes = minus(subtypesOf(before), subtypesOf(after));

  let written = before;
  if (Object.keys(changed).length > 0) {
    written = await updateRow(work.sql, CardTypeDefinition, { key: type }, changed);
  }
  await besides();
  const restated = await restateInventory(run, { cards: { type, values, removedSubtypes } });
  // after the events of its cards: an undo restores the type first, so that the old values are valid
  if (written !== before) emitCardType(work, before, written);
  return {
    dry_run: true,
    ...restated,
    ...measured,
    removed_subtypes: run.dryRun ? await countSubtypes(run, type, removedSubtypes) : [],
    required_fields: run.dryRun ? await countMissing(run, type, fields.before, fields.after) : [],
    mandatory_sides: [],
    needs_force: measured.changed_fields.some(({ misfits }) => misfits > 0),
    as_job: restated.cards + restated.relations > run.limit,
  };
}

function fieldsOf({ fields_schema }: CardTypeRow): Fields {
  return new Map(
    fields_schema.flatMap(({ fields }) => fields).map((field) => [field.key, compileField(field)]),
  );
}

const subtypesOf = ({ subtypes }: CardTypeRow) => new Set(subtypes.map(({ key }) => key));

/** The service writes the levels of capabilities itself, so their field keeps what it writes. */
function refuseFrozenLevels(type: string, before: Fields, after: Fields): void {
  if (type !== CAPABILITY_TYPE || !before.has(LEVEL_FIELD)) return;
  const field = after.get(LEVEL_FIELD);
  const fits = field?.type === 'single_select' && levelOptions.every((option) => field.options.has(option));
  if (fits) return;
  throw new EstateError(
    'built_in_frozen',
    `The service sets ${LEVEL_FIELD} itself: the field stays a select with the options ${levelOptions.join(', ')}.`,
    { extra: { field_key: LEVEL_FIELD } },
  );
}

async function countSubtypes(
  run: ChangeRun,
  type: string,
  removed: ReadonlySet<string>,
): Promise<Impact['removed_subtypes']> {
  const counted = [];
  for (const subtype_key of removed) {
    const affected = await countRows(run, { table: 'cards', type }, 't.subtype = ?', [subtype_key]);
    counted.push({ subtype_key, affected });
  }
  return counted;
}

async function countMissing(
  run: ChangeRun,
  type: string,
  before: Fields,
  after: Fields,
): Promise<Impact['required_fields']> {
  const counted = [];
  for (const { key, required } of after.values()) {
    if (!required || before.get(key)?.required) continue;
    const absent = 'not jsonb_exists(t.attributes, ?)';
    counted.push({ field_key: key, missing: await countRows(run, { table: 'cards', type }, absent, [key]) });
  }
  return counted;
}
